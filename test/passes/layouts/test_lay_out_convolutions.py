"""Convolutions that lie channels last, beside eager."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional

import dovetail
from dovetail.errors import EagerWarning
from dovetail.tools.fuzz.computations.opaque import scale_by_layout


class _Block(nn.Module):
    """Biases, batch norm, a residual, pooling; gives images, and features of them."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 16, 5, padding=2), nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.side, self.norm = nn.Conv2d(16, 32, 1, stride=2), nn.BatchNorm2d(32)

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = functional.max_pool2d(functional.gelu(self.first(images)), 2)
        joined = functional.relu(self.norm(self.second(found)) + self.side(found))
        return joined, joined.mean((2, 3))


class _Net(_Block):
    """And more convolutions, of which one adds up 128 channels."""

    def __init__(self) -> None:
        super().__init__()
        self.wide, self.last = nn.Conv2d(32, 128, 1), nn.Conv2d(128, 16, 3, padding=1)

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, ...]:
        joined, _ = super().forward(images)
        deep = self.last(functional.relu(self.wide(joined)))
        return joined, deep.mean((2, 3)), functional.avg_pool2d(deep, 2).flatten(1)


def _step(net: nn.Module, compute, images: torch.Tensor) -> list[torch.Tensor]:
    """Results, gradients as autograd gives them, and buffers."""
    images = images.clone().requires_grad_()
    results = compute(images)
    tangents = [torch.linspace(-1, 1, each.numel(), dtype=each.dtype).view(each.shape) for each in results]
    gradients = torch.autograd.grad(results, [images, *net.parameters()], tangents)
    return [*results, *gradients, *(each.clone() for each in net.buffers())]


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.host
def test_lies_as_eagers_and_is_as_exact(layout, op_by_op):
    """Catches results or gradients that the user gets channels last for rows, or rows for channels last; and errors
    above three times eager's, as of a convolution of many channels whose products are added up one after the other,
    or of a bias gradient that is."""
    torch.manual_seed(0)
    net, images = _Net().to(memory_format=layout), torch.randn(8, 3, 32, 40).contiguous(memory_format=layout)
    ours, wide = copy.deepcopy(net), copy.deepcopy(net).double()
    right = _step(wide, wide, images.double())
    expected = _step(net, net, images)
    actual = _step(ours, torch.compile(ours, backend="dovetail"), images)
    for eager, compiled, value in zip(expected, actual, right, strict=True):
        assert compiled.stride() == eager.stride()
        bound = 3 * (eager.double() - value).abs().max() + torch.finfo(torch.float32).eps * value.abs().max()
        assert (compiled.double() - value).abs().max() <= bound


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("filters", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.host
def test_gradients_of_filters_lie_as_eagers(layout, filters, dtype, op_by_op):
    """Catches the gradient of a filter that lies as the filter does, in rows, where eager's lies as the images do,
    channels last; of filters of one pixel, by the strides along it; and what `.grad` holds then."""
    torch.manual_seed(0)
    shapes = (8, 8, 3, 3), (16, 8, 1, 1), (16, 2, 3, 3), (6, 16, 3, 3)
    leaves = [torch.randn(each, dtype=dtype).contiguous(memory_format=filters) for each in shapes]
    leaves.append(torch.randn(2, 8, 12, 12, dtype=dtype).contiguous(memory_format=layout))

    def chain(first, pixel, grouped, last, images):
        deep = functional.conv2d(functional.conv2d(images, first, padding=1).relu(), pixel)
        return functional.conv2d(functional.conv2d(deep.view(2, 16, 12, 12), grouped, groups=8), last)

    def gradients(compute) -> list[torch.Tensor]:
        own = [each.clone().requires_grad_() for each in leaves]
        found = torch.autograd.grad(compute(*own).mean(), own)
        compute(*own).mean().backward()
        return [*found, *(each.grad for each in own if each.grad is not None)]

    expected, actual = gradients(chain), gradients(torch.compile(chain, backend="dovetail"))
    assert [each.stride() for each in actual] == [each.stride() for each in expected]
    torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("is_differentiated_again", [False, True])
@pytest.mark.host
def test_gradients_of_cast_filters_lie_as_eagers(is_differentiated_again, op_by_op):
    """Catches gradients in rows under autocast, where eager's cast keeps how the convolution's gradient lies."""

    def cast(images, weights):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return functional.conv2d(images, weights).float()

    def gradient(compute) -> torch.Tensor:
        images = torch.ones(2, 8, 12, 12).contiguous(memory_format=torch.channels_last)
        weights = torch.ones(6, 8, 3, 3, requires_grad=True)
        return torch.autograd.grad(compute(images, weights).sum(), weights, create_graph=is_differentiated_again)[0]

    assert gradient(torch.compile(cast, backend="dovetail")).stride() == gradient(cast).stride()


@pytest.mark.host
def test_gradients_of_filters_from_some_results_lie_as_eagers(op_by_op):
    """Catches gradients in rows where a backward from some results runs again without the others' infinite values."""

    def two(images, weights):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            convolved = functional.conv2d(images, weights).float()
        return convolved * 2, convolved.sqrt()

    def gradient(compute) -> torch.Tensor:
        images = torch.ones(2, 8, 12, 12).contiguous(memory_format=torch.channels_last)
        weights = torch.zeros(6, 8, 3, 3, requires_grad=True)
        return torch.autograd.grad(compute(images, weights)[0].sum(), weights)[0]

    expected = gradient(two)
    with pytest.warns(EagerWarning, match="met infinite values"):
        actual = gradient(torch.compile(two, backend="dovetail"))
    torch.testing.assert_close(actual, expected)
    assert actual.stride() == expected.stride()


# PyTorch asks whether a batch has 16 images, and one, and has further programs for these.
@pytest.mark.parametrize(("layout", "further"), [(torch.contiguous_format, 32), (torch.channels_last, 1)])
@pytest.mark.host
def test_open_sizes_lie_as_eagers(layout, further, op_by_op):
    """Catches convolutions of open sizes that stay in rows, and strides or numbers of another call's sizes."""
    torch.manual_seed(0)
    net = _Block().to(memory_format=layout)
    ours, wide = copy.deepcopy(net), copy.deepcopy(net).double()
    compiled = torch.compile(ours, backend="dovetail", dynamic=True)
    dovetail.stats(reset=True)
    shapes = ((8, 16, 20), (7, 24, 28), (2, 16, 20), (further, 16, 20))
    for batch, *pixels in shapes:
        images = torch.randn(batch, 3, *pixels).contiguous(memory_format=layout)
        right = _step(wide, wide, images.double())
        expected, actual = _step(net, net, images), _step(ours, compiled, images)
        for eager, found, value in zip(expected, actual, right, strict=True):
            assert found.stride() == eager.stride(), images.shape
            bound = 3 * (eager.double() - value).abs().max() + torch.finfo(torch.float32).eps * value.abs().max()
            assert (found.double() - value).abs().max() <= bound, images.shape
        assert batch == further or dovetail.stats().graphs == 1
    copies = dovetail.stats().copies["operand in another memory layout than eager's"]
    assert bool(copies) == (layout is torch.contiguous_format)
    assert not dovetail.stats().specialised


@pytest.mark.parametrize(
    ("layout", "dynamic"),
    [(torch.contiguous_format, False), (torch.contiguous_format, True), (torch.channels_last, False)],
)
@pytest.mark.host
def test_second_derivatives_lie_as_eagers(layout, dynamic, op_by_op):
    """Catches second derivatives that the user gets channels last for rows, since what runs again to be differentiated
    states channels last for its convolutions, or takes what a region has turned: `view` of them raises where eager's
    does not."""
    torch.manual_seed(0)
    first, second = (torch.randn(32, 32, 3, 3).div(17).contiguous(memory_format=layout) for _ in range(2))
    images = torch.randn(4, 32, 40, 40).contiguous(memory_format=layout)
    colours, filters = (
        torch.randn(each, 3, size, size).contiguous(memory_format=layout) for each, size in ((4, 40), (32, 3))
    )
    leaves = [each.requires_grad_() for each in (images, first, second, filters)]

    def smooth(images: torch.Tensor, first: torch.Tensor, second: torch.Tensor, filters: torch.Tensor) -> torch.Tensor:
        entered = images + functional.conv2d(colours, filters, padding=1).sigmoid()
        return functional.conv2d(functional.conv2d(entered, first, padding=1).sigmoid(), second, padding=1).tanh()

    def pooled(images: torch.Tensor, first: torch.Tensor, second: torch.Tensor, filters: torch.Tensor) -> torch.Tensor:
        found = functional.max_pool2d(functional.relu(functional.conv2d(images, first, padding=1)), 2)
        return functional.conv2d(found, second, padding=1).tanh() + filters.square().sum()

    def derivatives(compute) -> list[torch.Tensor]:
        gradients = torch.autograd.grad(compute(*leaves).sum(), leaves, create_graph=True)
        total = sum(each.square().sum() for each in gradients)
        return [*gradients, *torch.autograd.grad(total, leaves)]

    for compute in (smooth, pooled):
        actual = derivatives(torch.compile(compute, backend="dovetail", dynamic=dynamic))
        for compiled, eager in zip(actual, derivatives(compute), strict=True):
            assert compiled.stride() == eager.stride()
            torch.testing.assert_close(compiled, eager, rtol=1e-4, atol=1e-4 * float(eager.detach().abs().max()))


@pytest.mark.host
def test_copies_only_what_enters(op_by_op):
    """Catches images that are copied between two convolutions, and images of few channels and filters that calls copy
    in the forward and again in the backward: regions turn these, once."""
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 16, 3, padding=1),
        nn.AdaptiveAvgPool2d(1),
    )
    compiled = torch.compile(net, backend="dovetail")
    for channels, copied in ((3, 0), (96, 2)):
        net[0] = nn.Conv2d(channels, 16, 1)
        images = torch.randn(16, channels, 32, 32)
        compiled(images).sum().backward()
        before = dovetail.stats().copies
        compiled(images).sum().backward()
        assert (dovetail.stats().copies - before)["operand in another memory layout than eager's"] == copied


@pytest.mark.host
def test_half_precision_goes_along(op_by_op):
    """Catches autocast's convolutions that stay in rows, or weights that are cast to rows and copied."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(8, 256, 3), nn.ReLU(), nn.Conv2d(256, 8, 3), nn.AdaptiveAvgPool2d(1))
    net.requires_grad_(False)
    images = torch.randn(4, 8, 20, 20)

    def compute(given: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return net(given)

    before = dovetail.stats().copies
    actual = torch.compile(compute, backend="dovetail")(images)
    torch.testing.assert_close(actual, compute(images), rtol=0.02, atol=0.02)
    assert "operand in another memory layout than eager's" not in dovetail.stats().copies - before


@pytest.mark.host
def test_a_custom_op_sees_eagers_strides(op_by_op):
    """Catches a defect of the pass at a custom op that reads images channels last, or other strides for the op."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3))
    net.requires_grad_(False)
    images = torch.randn(16, 3, 32, 32)

    def compute(given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        found = net(given)
        return scale_by_layout(found), found.mean((2, 3))

    torch.testing.assert_close(
        torch.compile(compute, backend="dovetail")(images), compute(images), rtol=1e-4, atol=1e-5
    )
