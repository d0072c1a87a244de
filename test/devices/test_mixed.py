"""Programs with tensors on several devices: each op runs where its operands are, as eager's."""

import re

import pytest
import torch
from differential import assert_same
from torch.utils.checkpoint import checkpoint

import dovetail
from dovetail.runtime.autograd import streams


def on_gpu(*shape: int, grad: bool = False, number: int = 0) -> torch.Tensor:
    return torch.randn(shape, device=f"cuda:{number}").requires_grad_(grad)


def on_host(*shape: int, grad: bool = False) -> torch.Tensor:
    return torch.randn(shape, device="cpu").requires_grad_(grad)


def has_two() -> bool:
    try:
        torch.empty(0, device="cuda:1")
    except RuntimeError:
        return False
    return True


needs_two = pytest.mark.skipif("not has_two()", reason="needs two GPUs, or --device emulated-cuda")


def test_number_on_the_host():
    """A number on the CPU would be handed to a kernel of the GPU's, which can't read it."""

    def fn(x, scale):
        return x * scale + x.exp(), scale * 2

    assert_same(fn, on_gpu(4, 8, grad=True), on_host(grad=True))


def test_number_in_place_of_a_tensor():
    """`1 - tanh(x) ** 2` of the gradient makes a tensor of a number, which each device may take."""
    assert_same(lambda x, y: (x.tanh(), 2 - y.tanh()), on_gpu(4, 8, grad=True), on_host(3, grad=True))


def test_copies_between_devices():
    """A copy to the CPU is dropped as one that changes nothing, or the backward does not come back."""

    def fn(x):
        y = x.sin().cpu()
        return y, (y * 2).cuda() + x, y.sum().to(x.device)

    assert_same(fn, on_gpu(4, 8, grad=True))


def test_host_tensors_written_beside():
    """The values of arguments on the CPU are put into regions of the GPU's, or updated in place there."""

    def fn(x, count, log):
        count.add_(1)
        log.copy_(x.mean(0))
        x.mul_(2)
        return x + 1, count.sqrt()

    assert_same(fn, on_gpu(4, 8), on_host(), on_host(8), train=False)


def test_open_sizes_on_the_host():
    """Where an op runs is asked of sizes that are not known, and the whole program runs eagerly."""

    def fn(x, rows):
        y = rows * 2
        return x + 1, y - y.amax(0)

    assert_same(fn, on_gpu(4, 8, grad=True), on_host(6, 8, grad=True), dynamic=True)


def test_made_inside_on_each_device():
    """What an op makes from nothing is made on another device than the graph says."""

    def fn(x):
        return (
            torch.arange(8, device="cuda") + x,
            torch.zeros(3, device="cpu") + 1,
            torch.ones(2, 2, device="cpu", dtype=torch.int64),
            torch.full_like(x, 3).cpu(),
        )

    assert_same(fn, on_gpu(4, 8))


def test_constants_of_the_host():
    """A list in the program becomes a constant on the wrong device."""

    def fn(x):
        return x * torch.tensor([1.0, 2.0, 3.0], device="cpu").cuda(), torch.tensor([4, 5], device="cpu")

    assert_same(fn, on_gpu(2, 3, grad=True))


def test_index_on_the_host():
    """Indices may lie on the CPU where what they index does not."""

    def fn(x, index):
        return x[index], index + 1

    assert_same(fn, on_gpu(6, 3, grad=True), torch.tensor([0, 2, 2], device="cpu"))


def test_saved_on_the_host():
    """What the backward takes lies elsewhere than the program's own memory, and so does an absent gradient."""

    def fn(x, y):
        z = y.exp()
        return x.exp() * z.sum(), z

    assert_same(fn, on_gpu(4, grad=True), on_host(5, grad=True))
    assert_same(lambda x, y: fn(x, y)[0], on_gpu(4, grad=True), on_host(5, grad=True))


@needs_two
def test_two_gpus():
    """What lies on the second GPU is taken for what lies on the first."""

    def fn(x, y):
        y.mul_(2)
        return x.exp(), y.exp(), x.to("cuda:1") + y, torch.zeros(2, device="cuda:1")

    assert_same(fn, on_gpu(4, 3, grad=True), on_gpu(4, 3, number=1))


@needs_two
def test_program_of_the_second_gpu():
    """A program without tensors on the first GPU allocates there."""
    assert_same(lambda x: (x @ x).softmax(-1).sum(0), on_gpu(4, 4, grad=True, number=1))


def test_views_and_aliases():
    """A view of an argument on the CPU, or of a result there, gets memory of its own or another device."""

    def fn(x, y):
        y.t().add_(1)
        return y.t(), x.t(), y[0], (x + 1).cpu().t()

    assert_same(fn, on_gpu(3, 4), on_host(3, 4), train=False)


def test_branches():
    """What control flow hands to its branches is taken to lie on the GPU."""

    def fn(x, y):
        return torch.cond(y.sum() > 0, lambda x, y: (x.sin(), y + 1), lambda x, y: (x.cos(), y - 1), (x, y))

    assert_same(fn, on_gpu(4), on_host(3), train=False)


def test_host_program_stays_one():
    """A program without a tensor on a GPU is compiled for one."""
    before = dovetail.stats().graphs
    assert_same(lambda x: x.sin() + 1, on_host(4, grad=True))
    assert dovetail.stats().graphs == before + 1


@needs_two
def test_current_gpu():
    """The GPU that was current in the first call is taken for the one that the program's "cuda" means in each."""
    fn = torch.compile(lambda x: (torch.zeros(2, device="cuda"), x + 1), backend="dovetail")
    for number in (0, 1, 0):
        with torch.cuda.device(number):
            made, _ = fn(on_gpu(3))
            assert made.device == torch.device("cuda", number)


def test_default_device_in_a_checkpoint():
    """A tensor that a checkpointed region makes on the caller's default device lies on the CPU when it is compiled."""

    def body(x):
        return torch.nn.functional.conv2d(x, torch.arange(27.0).sin().view(3, 1, 3, 3)) + torch.ones(())

    def fn(x):
        return checkpoint(body, x, use_reentrant=False)

    assert_same(fn, on_gpu(2, 1, 5, 5, grad=True))


@pytest.mark.parametrize(
    "refused", [lambda x: x.int().softmax(0), lambda x: (x @ x.int(), x * 2)[1]], ids=["softmax", "product"]
)
def test_error_of_a_kernel(refused):
    """What a GPU's kernel refuses by element types was computed, or left out: only kernels of the CPU were asked."""
    x = on_gpu(3, 3)
    with pytest.raises((RuntimeError, NotImplementedError)) as expected:
        refused(x)
    with (
        pytest.warns(dovetail.errors.EagerWarning, match="raises"),
        pytest.raises(type(expected.value), match=re.escape(str(expected.value).splitlines()[0])),
    ):
        torch.compile(refused, backend="dovetail", fullgraph=True)(x)


def test_random_numbers_in_a_capture_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a call that asks for the generator's state while a CUDA graph is captured, which PyTorch refuses."""

    def state(*_: object) -> torch.Tensor:
        raise RuntimeError("Cannot call CUDAGeneratorImpl::current_seed during CUDA graph capture")

    compiled = torch.compile(lambda x: torch.nn.functional.dropout(x, 0.5) * x, backend="dovetail")
    x = on_gpu(4, 8, grad=True)
    compiled(x).sum().backward()  # compiles
    with monkeypatch.context() as patch:
        patch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
        patch.setattr(torch.cuda, "get_rng_state", state)
        made, other = compiled(x), compiled(x)
    [gradient] = torch.autograd.grad(made.sum(), x)
    assert gradient.shape == x.shape
    [gradient] = torch.autograd.grad(other.sum(), x, create_graph=True)
    with pytest.raises(
        RuntimeError, match="can't be differentiated again: it draws random numbers, and was called while"
    ):
        gradient.sum().backward()


def test_memory_of_a_gpu_that_begins_amid_64_bytes() -> None:
    """Catches a copy of what a plan for a GPU takes where it lies: it asks for 16 bytes, the CPU's code for 64."""

    def fn(x, y):
        x.mul_(y.exp().sum(0))

    compiled, counted = torch.compile(fn, backend="dovetail"), []
    for offset in (4, 1):
        dovetail.stats(reset=True)
        x, y = torch.ones(68, device="cuda")[offset : 64 + offset], on_gpu(8, 64)
        assert x.data_ptr() % 64 == 4 * offset
        compiled(x, y)
        torch.testing.assert_close(x, y.exp().sum(0))
        counted.append(sum(dovetail.stats().copies.values()))
    assert counted[0] == 0 < counted[1]


class _Stream:
    """Stands in for one of a GPU."""

    def __init__(self, name: str, said: list[str]) -> None:
        self.name, self.said, self.device = name, said, "cuda:0"

    def __enter__(self) -> None:
        self.said.append(f"on {self.name}")

    def __exit__(self, *_: object) -> None:
        self.said.append("back")

    def wait_stream(self, other: "_Stream") -> None:
        self.said.append(f"{self.name} waits for {other.name}")


def test_a_backward_from_the_cpu_runs_where_the_forward_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a backward on the caller's stream that reads what the forward's has not computed: autograd enters the
    forward's stream only where a result with a gradient lies on a GPU."""
    said: list[str] = []
    first, second = (_Stream(name, said) for name in ("first", "second"))
    mixed = torch.compile(lambda x: x.exp().mul(2).cpu(), backend="dovetail")
    alone = torch.compile(lambda x: x.exp().mul(2), backend="dovetail")
    for fn, expected in ((mixed, ["on first", "back", "second waits for first"]), (alone, [])):
        x = on_gpu(4, 8, grad=True)
        monkeypatch.setattr(streams, "current_stream", lambda _: first)
        made = [fn(x) for _ in range(2)]
        made[0].sum().backward()
        assert not said
        monkeypatch.setattr(streams, "current_stream", lambda _: second)
        made[1].sum().backward()
        assert said == expected
        said.clear()
        torch.testing.assert_close(x.grad, 4 * x.detach().exp())
