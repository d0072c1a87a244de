"""Ops that PyTorch takes apart by kernels in Python, before a table is asked, are what eager's kernels compute."""

from functools import partial

import pytest
import torch
from torch._decomp import meta_table
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.nn import functional

from dovetail.frontend.decompose.python_kernels import without_python_kernels
from dovetail.frontend.decompose.table import decided

aten = torch.ops.aten
NAN, INF = torch.nan, torch.inf


def results(function, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    leaf = value.clone().requires_grad_()
    result = function(leaf)
    weights = torch.linspace(0.5, 1.5, result.numel()).reshape(result.shape)
    return result.detach(), torch.autograd.grad(result, leaf, weights)[0]


LABELS = torch.tensor([[3, 0, -1, 1], [-1, 2, 2, 2], [0, 1, 2, 3]])
SCORES = torch.tensor([[0.1, 0.2, 0.4, 0.8], [0.3, -2.0, NAN, 1.0], [0.5, 0.1, 0.9, 2.0]])
SHRUNK = torch.tensor([NAN, INF, -INF, 0.5, -0.5, 0.3, -0.3, 0.0, -0.0, 2.0, -2.0, 3e38]).repeat(16)


def beside_infinity(*sizes: int) -> torch.Tensor:
    value = torch.linspace(-1, 1, 2 * 3 * 5 * 4).reshape(2, 3, 5, 4)
    value[0, 0, 1, 1], value[1, 2, 0, 0], value[0, 1, 4, 3] = INF, NAN, -INF
    return value.flatten()[: torch.Size(sizes).numel()].reshape(sizes)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(
    ("loss", "target"),
    [
        (functional.multilabel_margin_loss, LABELS),
        (functional.multi_margin_loss, torch.tensor([3, 1, 0])),
    ],
)
def test_margin_losses(op_by_op, loss, target, reduction):
    """Labels after the first -1 were counted, and NaN where eager skips it."""
    compute = partial(loss, target=target, reduction=reduction)
    compiled = torch.compile(compute, backend="dovetail", options={"strict": True})
    torch.testing.assert_close(results(compiled, SCORES), results(compute, SCORES), equal_nan=True)


@pytest.mark.parametrize(
    ("mode", "sizes", "to"),
    [
        ("linear", (3, 5, 4), (9,)),
        ("bilinear", (2, 3, 5, 4), (9, 7)),
        ("bicubic", (2, 3, 5, 4), (9, 7)),
        ("trilinear", (1, 2, 3, 5, 4), (4, 9, 7)),
        ("nearest", (2, 3, 5, 4), (9, 7)),
        ("nearest-exact", (1, 1, 5, 4), (9, 7)),
    ],
)
def test_interpolation_beside_an_infinity(op_by_op, mode, sizes, to, device):
    """PyTorch's parts give NaN for what lies between a number and an infinity, where eager's kernel gives infinity.

    A GPU's kernel adds up a gradient in no order of its own.
    """
    value = beside_infinity(*sizes)
    compute = partial(functional.interpolate, size=to, mode=mode)
    compiled = torch.compile(compute, backend="dovetail", options={"strict": True})
    expected, actual = results(compute, value), results(compiled, value)
    torch.testing.assert_close(actual[0], expected[0], rtol=0, atol=0, equal_nan=True)
    of_gradients = {} if device == "cuda" else {"rtol": 0, "atol": 0}
    torch.testing.assert_close(actual[1], expected[1], equal_nan=True, **of_gradients)
    assert [each.stride() for each in actual] == [each.stride() for each in expected]


@pytest.mark.parametrize("shrink", [functional.softshrink, functional.hardshrink])
def test_gradient_of_what_is_shrunk_away(op_by_op, shrink):
    """The gradient of the parts is 0 times the result's gradient: NaN, if that is infinite."""

    def scaled(x):
        return shrink(x).mul(INF)

    compiled = torch.compile(scaled, backend="dovetail")
    torch.testing.assert_close(results(compiled, SHRUNK), results(scaled, SHRUNK), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic"])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_few_channels_that_lie_next_to_each_other(mode: str, device: str):
    """Of open sizes on a GPU, PyTorch's parts lay images of few channels out in rows, where the kernel does not."""
    env = ShapeEnv()
    symbol = env.create_symbol(6, ConstantSource("n"), dynamic_dim=DimDynamic.DYNAMIC)
    size = env.create_symintnode(symbol, hint=6)
    with FakeTensorMode(shape_env=env), without_python_kernels(decided()), enable_python_dispatcher():
        images = torch.empty(2, 3, size, 7, device=device, memory_format=torch.channels_last)
        strides = functional.interpolate(images, scale_factor=2, mode=mode).stride()
    assert str(strides) == str((84 * size, 1, 42, 3))


def test_kernels_are_back_afterwards():
    """Another backend in the same process would trace other ops than PyTorch says."""
    before, described = {each: dict(each.py_kernels) for each in decided()}, {*meta_table}
    assert any(before.values())
    with without_python_kernels(decided()):
        assert torch._C.DispatchKey.Autograd not in aten.softshrink.default.py_kernels
        with without_python_kernels(decided()):
            pass
        assert aten.upsample_bilinear2d.default in meta_table
    assert before == {each: dict(each.py_kernels) for each in decided()}
    assert described == {*meta_table}
