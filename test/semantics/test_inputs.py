"""Arguments of every kind: layouts, numbers, aliases that nobody writes, parameters and buffers."""

import copy

import pytest
import torch
from differential import assert_same

import dovetail


def doubled(x):
    return x * 2 + 1


BASE = torch.linspace(-1, 1, 12)


def test_layout():
    """Catches a kernel that reads a strided, shifted, expanded or misaligned tensor as if it were dense, or a write
    that lands beside the elements of a strided one (I18)."""
    dense = torch.tensor(2.0), torch.empty(0, 3)
    layouts = [BASE.clone().reshape(3, 4).t(), BASE.clone()[3:7], BASE.clone()[::3], *dense]
    tensors = [*layouts, torch.ones(1, 3).expand(4, 3)]

    def fn(*given):
        return [doubled(x) for x in given]

    def written(expanded, *given):
        return doubled(expanded), *(x.mul_(2) for x in given)

    assert_same(fn, *tensors, prepare=lambda *given: [x.requires_grad_() for x in given])
    assert_same(written, tensors[-1], *layouts, train=False)


def test_no_elements_leave_nothing_to_compile():
    """Catches a region with a size of 0, on which IREE's compiler crashes or gives up."""

    def fn(x):
        joined = torch.cat([x * 2, torch.ones(3, 4)]) * 2
        return x.softmax(-1), x.softmax(0), torch.nn.functional.gelu(x).sum(0) + 1, joined

    assert_same(fn, torch.empty(0, 4), prepare=lambda x: (x.requires_grad_(),), options={"strict": True})


@pytest.mark.compiled  # op by op, nothing need be aligned
def test_copy_for_layout_is_counted():
    """Catches a copy that `stats()` does not show (I18)."""
    compiled = torch.compile(doubled, backend="dovetail")
    compiled(BASE[3:7])
    before = dovetail.stats().copies.total()
    compiled(BASE[3:7])
    assert dovetail.stats().copies.total() == before + 1
    compiled(torch.ones(4))
    assert dovetail.stats().copies.total() == before + 1


def test_lazy_conjugate_and_negative():
    """Catches memory read without the conjugation or negation that the tensor only promises."""
    numbers = torch.randn(3, dtype=torch.complex64)
    assert_same(lambda x, y: (x * 2, y * 2), numbers, prepare=lambda x: (x.conj(), x.conj().imag), train=False)


def test_element_types():
    """Catches a demoted or promoted float, forward or backward; arithmetic that wraps, divides or accumulates in
    another integer type than eager's; masks and indices handled as numbers."""
    floats = [BASE.to(each).requires_grad_() for each in (torch.float64, torch.bfloat16, torch.float16)]
    types = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
    integers = [torch.arange(1, 9).to(each) for each in types]
    mask, indices = torch.tensor([True, False, True, False]), torch.tensor([1, 2, 1])

    def fn(floats, integers, x, mask, indices):
        return (
            [each.exp() * 2 for each in floats],
            [(each // 2, each % 3, each * 100, each.sum(), each.float()) for each in integers],
            (torch.where(mask, x, 0.0), ~mask, mask.sum(), x[indices] * 2),
        )

    assert_same(fn, floats, integers, torch.ones(4).requires_grad_(), mask, indices)


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize("dynamic", [None, False])
def test_sizes_that_change(dynamic):
    """Catches a program for one size run on another, or a symbolic size that stops the compiler."""

    def fn(x):
        return (x.sin() * x.shape[0]).sum(), x.shape[0] * 2

    compiled = torch.compile(fn, backend="dovetail", dynamic=dynamic, fullgraph=True)
    for size in (2, 3, 4, 2):
        x = torch.full((size, 3), 0.5, requires_grad=True)
        total, number = compiled(x)
        total.backward()
        torch.testing.assert_close(x.grad, (x.cos() * size).detach())
        assert number == 2 * size


@pytest.mark.usefixtures("op_by_op")
def test_integers_that_change():
    """Catches a Python number that stays what it was in the first call."""
    compiled = torch.compile(lambda x, n: (x * n, n + 1), backend="dovetail", fullgraph=True)
    for number in (1, 2, 3, 4):
        product, following = compiled(torch.ones(3), number)
        assert (product.tolist(), following) == ([float(number)] * 3, number + 1)


@pytest.mark.usefixtures("op_by_op")
def test_floats_that_change():
    """Catches a Python float that stays what it was; from the second value on, PyTorch breaks the graph at it."""
    compiled = torch.compile(lambda x, s: x * s, backend="dovetail")
    for number in (0.5, 1.5, 2.5):
        assert compiled(torch.ones(3), number).tolist() == [number] * 3


class Statistics(torch.nn.Module):
    """Buffers updated in each way that modules use."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("last", torch.zeros(3))
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        self.count += 1
        self.mean.mul_(0.9).add_(x.detach().mean(0), alpha=0.1)
        self.last = x.detach()[0] * 1
        return x * self.weight + self.mean / self.count


def convolution() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, bias=False), torch.nn.BatchNorm2d(4), torch.nn.ReLU())


@pytest.mark.usefixtures("op_by_op")
def test_buffers():
    """Catches a buffer whose update is lost, or reassigned where eager writes in place (I11)."""
    assert_same(Statistics(), torch.linspace(-1, 1, 12).reshape(4, 3), calls=3)


class Beside(torch.nn.ModuleList):
    """Nets beside each other, each of an image of its own."""

    def forward(self, *images):
        return [net(image) for net, image in zip(self, images, strict=True)]


def test_convolutions():
    """Catches a convolution net whose results or gradients lose channels-last, or whose statistics stand still."""
    formats = [torch.contiguous_format, torch.channels_last, torch.channels_last]
    net = convolution()
    nets = Beside([copy.deepcopy(net).to(memory_format=each) for each in formats])
    nets[-1].eval()
    image = torch.linspace(-1, 1, 150).reshape(2, 3, 5, 5)
    # A copy of its own for each; `to` would give all the same dense one.
    assert_same(nets, *(image.clone(memory_format=each).requires_grad_() for each in formats))
