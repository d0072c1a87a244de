"""What a call leaves in its arguments, and what autograd and the version counter know of it."""

import pytest
import torch
from differential import assert_same, without_dynamo
from old_torch import IS_2_11
from torch.utils._pytree import tree_leaves

pytestmark = pytest.mark.usefixtures("op_by_op")


def vector(*, grad: bool = False) -> torch.Tensor:
    return torch.linspace(-1, 1, 4).requires_grad_(grad)


def matrix(*, grad: bool = False) -> torch.Tensor:
    return torch.linspace(-1, 1, 6).reshape(2, 3).requires_grad_(grad)


def cloned(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(tensor.clone() for tensor in tensors)


def write_under_no_grad(x):
    with torch.no_grad():
        x.mul_(2)


def test_every_way_of_writing():
    """Catches a write that is forgotten, or that autograd follows where it does not follow eager's, and the other way
    round: rows I2 to I5 hold these ways one by one."""
    ways = write_under_no_grad, lambda x: x.detach().mul_(2), lambda x: x.data.mul_(2)

    def fn(copied_into, source, followed, plain, leaves, others):
        copied_into.copy_(source * 2)
        followed.mul_(2)
        for tensors in (plain, leaves, others):
            for x, write in zip(tensors, ways, strict=True):
                write(x)
        return [x.sin() for x in (copied_into, followed, *plain, *leaves, *others)]

    def prepare(copied_into, source, followed, plain, *leaves):
        return copied_into, source, followed.clone(), plain, leaves[:3], cloned(*leaves[3:])

    def use(outputs, arguments):
        return [x * 3 for x in tree_leaves(arguments)]

    plain, leaves = [vector() for _ in ways], [vector(grad=True) for _ in range(8)]
    assert_same(fn, vector(), *leaves[:2], plain, *leaves[2:], prepare=prepare, then=use)


def test_mutation_without_results():
    """Catches a program dropped because it returns nothing."""

    def fn(x, y):
        x.add_(y)

    assert_same(fn, vector(), vector())
    assert_same(fn, vector(grad=True), vector(grad=True), prepare=cloned)


def test_two_arguments_written_from_each_other():
    """Catches an epilogue whose second write reads what the first one wrote."""

    def fn(x, y):
        old = x.clone()
        x.copy_(y)
        y.copy_(old)
        return x - y

    assert_same(fn, vector(), torch.ones(4))
    assert_same(fn, vector(grad=True), torch.ones(4, requires_grad=True), prepare=cloned)


def test_mutated_argument_returned():
    """Catches a result that equals the argument but is another object."""

    def fn(x):
        x.add_(1)
        x.mul_(3)
        return x

    assert_same(fn, vector())
    assert_same(fn, vector(grad=True), prepare=cloned)


def test_view_of_mutated_argument_returned():
    """Catches a view taken of the value before the write."""

    def fn(x):
        x.add_(1)
        return x.view(2, 2).t()

    assert_same(fn, vector(), then=lambda outputs, arguments: outputs.mul_(2))
    assert_same(fn, vector(grad=True), prepare=cloned, then=lambda outputs, arguments: outputs.mul_(2))


def test_write_overlapping_its_read():
    """Catches a kernel that writes in place what it still reads, or that writes into its argument (hazard H1)."""
    writes = (
        lambda x: x[:, 1:].copy_(x[:, :-1].clone()),
        lambda x: x[:, :-1].copy_(x[:, 1:].clone()),
        lambda x: x[:, 50:].copy_(x[:, :50]),
        lambda x: x[:, ::2].copy_(x[:, 1::2]),
        lambda x: x[:, 1:].add_(x[:, :-1].clone()),
        lambda x: x.copy_(x.flip(0)),
        lambda x: x[2:].copy_(x[1:-1] + x[:-2]),
        lambda x: x[0].copy_(x[1]),
    )

    def fn(*arguments):
        for x, write in zip(arguments, writes, strict=True):
            write(x)
        return [x + 1 for x in arguments]

    assert_same(fn, *(torch.arange(1000.0).reshape(10, 100) for _ in writes), train=False)


def test_slice_scattered_into_an_argument():
    """Catches IREE scattering a slice into the argument's own memory."""

    def fn(x):
        return x.slice_scatter(x[:, :50], 1, 50), x.slice_scatter(x[:, :-1], 1, 1), x.slice_scatter(x, 0)

    assert_same(fn, torch.arange(1000.0).reshape(10, 100).requires_grad_())


def test_in_place_ops():
    """Catches an in-place op whose functional form loses the write."""
    writes = (
        lambda x: x.index_put_((torch.tensor([0, 2]),), torch.tensor(5.0)),
        lambda x: x.zero_(),
        lambda x: x.relu_(),
        lambda x: x.masked_fill_(x > 0, 7.0),
    )

    def fn(*arguments):
        for x, write in zip(arguments, writes, strict=True):
            write(x)
        return [x * 2 for x in arguments]

    assert_same(fn, *(vector(grad=True) for _ in writes), prepare=cloned)


def test_saved_value_of_an_argument_that_is_overwritten():
    """Catches a gradient computed from what the epilogue wrote; eager keeps the copy that the user made."""

    def fn(x, y):
        product = x.clone() * y
        x.mul_(2)
        return product

    assert_same(fn, vector(), torch.ones(4, requires_grad=True))
    assert_same(fn, vector(grad=True), torch.ones(4, requires_grad=True), prepare=lambda x, y: (x.clone(), y))


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
def test_metadata_mutation(grad):
    """Catches sizes and strides of an argument that stay as they were (I6), and a copy returned in its place. Dynamo
    itself would break the graph."""

    def fn(a, b, c, d, e):
        a.t_()
        b.unsqueeze_(1)
        c.as_strided_((2, 2), (1, 2))
        d.swapaxes_(0, 1)
        return a * 2, b * 2, c * 2, d * 2, e.squeeze_()

    columns = torch.ones(2, 1, 3).requires_grad_(grad)
    assert_same(fn, *(matrix(grad=grad) for _ in range(4)), columns, prepare=cloned, compiler=without_dynamo)


class Deepening(torch.nn.Module):
    """Whose buffer has a dimension more in each call."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean.unsqueeze_(0)
        return self.mean.sin() + x * self.mean.dim()


@pytest.mark.xfail(IS_2_11, reason="Dynamo of PyTorch 2.11 does not look again at a module's tensors: docs/limits.md")
def test_sizes_of_a_buffer_change_in_place() -> None:
    """Catches a program for the sizes that a buffer had in an earlier call, where nothing else has changed."""
    eager, module = Deepening(), Deepening()
    compiled = torch.compile(module, backend="dovetail")
    for _ in range(3):
        x = torch.linspace(-1, 1, 2)
        torch.testing.assert_close(compiled(x), eager(x))
        assert module.mean.shape == eager.mean.shape
