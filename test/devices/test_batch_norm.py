"""Batch norms of images in training, whose variances and means a GPU's own kernel computes, against float64."""

import copy
import functools
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import dovetail


class _Net(nn.Module):
    def __init__(self, is_repeated: bool) -> None:
        super().__init__()
        self.is_repeated = is_repeated
        self.first, self.second = (nn.Conv2d(8, 8, 3, padding=1, bias=False) for _ in range(2))
        # A repeated block that writes runs eagerly.
        self.norm, self.last = (nn.BatchNorm2d(8, track_running_stats=not is_repeated) for _ in range(2))

    def _block(self, x: torch.Tensor) -> torch.Tensor:
        return (self.last(self.second(self.norm(self.first(x)).relu())) + x).relu()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return checkpoint(self._block, x, use_reentrant=False) if self.is_repeated else self._block(x)


def _step(net: nn.Module, compute, images: torch.Tensor, is_second: bool) -> list[torch.Tensor]:
    """Result, gradients, second ones, and buffers."""
    images = images.clone().requires_grad_()
    leaves = [images, *net.parameters()]
    for _ in range(2):
        result = compute(images)
        loss = result.square().sum()
        if is_second:
            gradients = torch.autograd.grad(loss, leaves, create_graph=True)
            continue
        # What `torch.autograd.grad` returns may lie row by row where eager's does not: docs/limits.md.
        for leaf in leaves:
            leaf.grad = None
        loss.backward()
        gradients = [leaf.grad for leaf in leaves]
    second = torch.autograd.grad(sum(each.square().sum() for each in gradients), leaves) if is_second else ()
    return [each.detach().clone() for each in (result, *gradients, *second, *net.buffers()) if each.is_floating_point()]


@pytest.mark.parametrize("way", ["once", "repeated", "twice differentiated"])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last], ids=["rows", "channels last"])
def test_training(way: str, layout: torch.memory_format):
    """Catches statistics of other dimensions, running ones that are not written, second derivatives without the mean's;
    and a norm whose moments are several sums."""
    torch.manual_seed(0)
    net, images = _Net(way == "repeated").to(memory_format=layout), torch.randn(6, 8, 12, 12) + 1
    images, is_second = images.contiguous(memory_format=layout), way == "twice differentiated"
    ours, wide = copy.deepcopy(net), copy.deepcopy(net).double()
    right = _step(wide, wide, images.double(), is_second)
    expected = _step(net, net, images, is_second)
    dovetail.stats(reset=True)
    actual = _step(ours, torch.compile(ours, backend="dovetail"), images, is_second)
    moments = [count for (op, _), count in dovetail.stats().library_calls.items() if "var_mean" in op]
    assert sum(moments) == (4 if way == "repeated" else 2)
    assert not dovetail.stats().eager
    for eager, compiled, value in zip(expected, actual, right, strict=True):
        assert compiled.stride() == eager.stride()
        bound = 3 * (eager.double() - value).norm() + torch.finfo(torch.float32).eps * value.norm()
        assert (compiled.double() - value).norm() <= bound
    assert way == "repeated" or ours.norm.num_batches_tracked == 2


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last], ids=["rows", "channels last"])
def test_half_precision(layout: torch.memory_format):
    """ATen's variance of images that lie channels last took four times as long as sums of their columns."""
    torch.manual_seed(0)
    net, images = _Net(False).to(memory_format=layout), torch.randn(6, 8, 12, 12).contiguous(memory_format=layout) + 1
    ours, wide = copy.deepcopy(net), copy.deepcopy(net).double()
    right = _step(wide, wide, images.double(), False)
    half = torch.autocast("cuda", torch.bfloat16)
    expected = _step(net, half(net), images, False)
    dovetail.stats(reset=True)
    actual = _step(ours, half(torch.compile(ours, backend="dovetail")), images, False)
    assert not any("var_mean" in op for op, _ in dovetail.stats().library_calls)
    assert not dovetail.stats().eager
    for eager, compiled, value in zip(expected, actual, right, strict=True):
        bound = 3 * (eager.double() - value).norm() + torch.finfo(torch.bfloat16).eps * value.norm()
        assert (compiled.double() - value).norm() <= bound


class _Deep(nn.Module):
    """Chains that pay: strides, pooling, filters of one pixel and of many."""

    def __init__(self, is_smooth: bool = False) -> None:
        super().__init__()
        self.cut, self.pool = (torch.tanh, nn.AvgPool2d(2)) if is_smooth else (torch.relu, nn.MaxPool2d(3, 2, 1))
        self.first, self.second = nn.Conv2d(3, 16, 5, padding=2, bias=False), nn.Conv2d(16, 16, 3, stride=2, padding=1)
        # Eager's second derivative of a filter of one pixel that lies channels last is wrong on the emulated GPU, by
        # PyTorch's `slow_conv2d`.
        self.side = nn.Conv2d(16, 16, 3 if is_smooth else 1, stride=2, padding=int(is_smooth))
        self.last = nn.Conv2d(16, 16, 3, padding=1)
        self.norms = nn.ModuleList(nn.BatchNorm2d(16) for _ in range(2))

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        found = self.cut(self.norms[0](self.first(images)))
        joined = self.cut(self.norms[1](self.second(found)) + self.side(found))
        joined = self.last(self.pool(joined))
        return joined, torch.var_mean(joined, (0, 2, 3), correction=1)[0]


def _joined(compute: Callable) -> Callable:
    return lambda given: torch.cat([each.flatten() for each in compute(given)])


def _deep(is_second: bool) -> tuple[nn.Module, torch.Tensor]:
    """A model and its images. Where numbers are cut off, rounding decides of second derivatives."""
    torch.manual_seed(0)
    return _Deep(is_second), torch.randn(32, 3, 64, 64) + 1


@functools.cache
def _steps(is_second: bool, layout: torch.memory_format, dtype: torch.dtype) -> list[torch.Tensor]:
    """Eager's."""
    net, images = (each.to(dtype=dtype, memory_format=layout) for each in _deep(is_second))
    return _step(net, _joined(net), images, is_second)


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last], ids=["rows", "channels last"])
@pytest.mark.parametrize("is_second", [False, True], ids=["once", "twice differentiated"])
def test_single_precision_rounded_to_tf32(layout: torch.memory_format, is_second: bool):
    """Catches chains that stay in rows, moments that ATen's slow kernel takes of such images, a mean that is not
    corrected, gradients that the user gets in another layout than eager's."""
    right = _steps(is_second, torch.contiguous_format, torch.float64)
    # Of images in rows, cuDNN's own choice may be a kernel that rounds nothing, though the switch lets it.
    rounded = _steps(is_second, torch.channels_last, torch.float32)
    expected = _steps(is_second, layout, torch.float32)
    ours, images = (each.to(memory_format=layout) for each in _deep(is_second))
    dovetail.stats(reset=True)
    actual = _step(ours, _joined(torch.compile(ours, backend="dovetail")), images, is_second)
    assert not any("var_mean" in op for op, _ in dovetail.stats().library_calls)
    assert not dovetail.stats().eager
    for eager, like, compiled, value in zip(expected, rounded, actual, right, strict=True):
        assert compiled.stride() == eager.stride()
        bound = 3 * (like.double() - value).norm() + torch.finfo(torch.float32).eps * value.norm()
        assert (compiled.double() - value).norm() <= bound


def test_the_switch_is_asked_in_each_graph():
    """Catches single precision that is laid out channels last where nothing rounds it, since another graph's was."""
    torch.manual_seed(0)
    images = torch.randn(32, 3, 64, 64)

    def moments() -> bool:
        torch.compiler.reset()
        dovetail.stats(reset=True)
        torch.compile(_Deep(), backend="dovetail")(images)
        return any("var_mean" in op for op, _ in dovetail.stats().library_calls)

    assert not moments()
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        assert moments()
    assert not moments()


def test_what_is_alike_does_not_deviate():
    """Catches a mean that is off by what its sum was rounded: 0.02 from it, where a variance of nothing divides."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.Conv2d(16, 16, 3), nn.BatchNorm2d(16))
    dovetail.stats(reset=True)
    found = torch.compile(net, backend="dovetail")(torch.full((64, 3, 70, 70), 3e4 / 7))
    assert not any("var_mean" in op for op, _ in dovetail.stats().library_calls)
    assert found.abs().max() <= 1e-3
    assert (net[1].running_var - 0.9).abs().max() <= 1e-5


def _spread(pixels: torch.Tensor) -> torch.Tensor:
    """By the pixel, in the order of memory of images that lie channels last: of few bits, so that TF32 rounds none."""
    return pixels.view(64, 1, 64, 64).expand(64, 16, 64, 64).contiguous()


def _dark(*bright: int) -> torch.Tensor:
    pixels = torch.full((64 * 64 * 64,), 0.125)
    pixels[list(bright)] = 1000.0
    return _spread(pixels)


EXTREMES = {
    "small beside the mean": lambda: torch.randint(-2, 3, (64, 16, 64, 64)).float(),
    "a ramp": lambda: _spread(torch.arange(64 * 64 * 64) // 256).float(),
    "dark but for one pixel": lambda: _dark(0),
    "dark but for one pixel in the middle": lambda: _dark(123_457),
    "dark but for what stands for a part": lambda: _dark(*range(0, 256, 4)),
    "dark but for what stands for the parts": lambda: _dark(*range(0, 64 * 64 * 64, 4)),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_moments_of_extreme_images(name: str):
    """Catches deviations from a number that is far from the mean: their squares lose the bits of the variance."""
    torch.manual_seed(0)
    net = nn.Sequential(
        *(nn.Conv2d(16, 16, 1), nn.BatchNorm2d(16, momentum=1.0)),
        *(nn.Conv2d(16, 16, 3), nn.BatchNorm2d(16)),
    )
    nn.init.dirac_(net[0].weight)
    nn.init.constant_(net[0].bias, 10_000.0 if "mean" in name else 0.0)
    images = EXTREMES[name]()
    ours, wide = copy.deepcopy(net), copy.deepcopy(net).double()
    net[:2](images)
    wide[:2](images.double())
    dovetail.stats(reset=True)
    torch.compile(ours, backend="dovetail")(images)
    assert not any("var_mean" in op for op, _ in dovetail.stats().library_calls)
    for of in ("running_mean", "running_var"):
        eager, compiled, value = (getattr(each[1], of).double() for each in (net, ours, wide))
        # A CPU's kernel, which the emulated GPU has, adds up in float64: what it is off by is one rounding, or none.
        bound = 3 * (eager - value).norm() + 4 * torch.finfo(torch.float32).eps * value.norm()
        assert (compiled - value).norm() <= bound


@pytest.mark.parametrize("number", [torch.inf, torch.nan])
def test_moments_of_what_is_no_number(number: float):
    """Catches channels whose variance is a number where `var_mean` finds none."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(16, 16, 1), nn.BatchNorm2d(16), nn.Conv2d(16, 16, 3), nn.BatchNorm2d(16))
    images = torch.randn(64, 16, 64, 64)
    images[5, 3, 7, 9] = number
    variance, _ = torch.var_mean(net[0](images), (0, 2, 3))
    torch.compile(net, backend="dovetail")(images)
    assert variance.isnan().any()
    assert torch.equal(net[1].running_var.isnan(), variance.isnan())


def test_evaluation():
    """Catches statistics of the batch where there are those of the training."""
    net, images = _Net(False).eval(), torch.randn(6, 8, 12, 12)
    dovetail.stats(reset=True)
    torch.testing.assert_close(torch.compile(net, backend="dovetail")(images), net(images), atol=1e-4, rtol=1e-4)
    assert not any("var_mean" in op for op, _ in dovetail.stats().library_calls)


def test_a_backward_is_given_the_mean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Would catch a backward that adds up images again for a mean, of which another sum is the correction: where memory
    is short, it computes all again that it can."""
    monkeypatch.setattr("dovetail.passes.layouts.lay_out_convolutions.pays", lambda *_: True)
    monkeypatch.setenv("DOVETAIL_DUMP", str(tmp_path))
    net = nn.Sequential(*(nn.Conv2d(16, 16, 3, padding=1, bias=False) for _ in range(2)), nn.BatchNorm2d(16), nn.ReLU())
    compiled = torch.compile(net, backend="dovetail", options={"memory_budget": 0.0})
    compiled(torch.randn(16, 16, 64, 64)).sum().backward()
    (split,) = tmp_path.glob("*/*_partition.mlir")
    forward, backward = split.read_text().split("func.func @backward(")
    assert forward.count("dovetail.pinned") == 2
    # The sums of the norm's own gradient.
    assert backward.count("torch.aten.sum") == 2
