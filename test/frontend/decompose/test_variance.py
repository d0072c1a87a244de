"""Variances, deviations and batch norms, against eager."""

import copy

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import dovetail
from dovetail.frontend.decompose.variance import VARIANCES, _moments

HUGE = torch.linspace(-3, 3, 40).reshape(8, 5) * torch.tensor([1.0, 1e30, 1e-30, 1e19, 0.0])


@pytest.mark.parametrize("op", [torch.std, torch.std_mean, torch.var, torch.var_mean])
def test_numbers_whose_square_overflows(op):
    """The deviation of numbers of about 1e30 was infinite: their variance is no float32, but eager's is no float32."""
    for actual, expected in zip(torch.compile(op, backend="dovetail")(HUGE, 0), op(HUGE, 0), strict=True):
        torch.testing.assert_close(actual, expected, atol=0, rtol=1e-5)


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize("has_statistics", [False, True])
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("shape", [(8, 5), (2, 5, 2, 2)])
def test_batch_norm(has_statistics: bool, affine: bool, shape: tuple[int, ...]):
    """A channel of about 1e30 became zeros, where most of eager's kernels add up in float64; strides are eager's."""
    kind = torch.nn.BatchNorm1d if len(shape) == 2 else torch.nn.BatchNorm2d
    module = kind(5, affine=affine, track_running_stats=has_statistics)
    value = HUGE if len(shape) == 2 else HUGE.view(2, 2, 2, 5).permute(0, 3, 1, 2)
    strides = module(value).stride()
    precise, compiled = copy.deepcopy(module).double(), torch.compile(module, backend="dovetail")
    dovetail.stats(reset=True)
    shown = []
    for function, dtype in ((compiled, torch.float32), (precise, torch.float64)):
        leaf = value.to(dtype, copy=True).requires_grad_()
        result = function(leaf)
        (result * result * torch.arange(1.0, 41).view(shape)).sum().backward()
        shown.append([result, leaf.grad, *function.buffers(), *(parameter.grad for parameter in function.parameters())])
    assert shown[0][0].stride() == strides
    for ours, expected in zip(*shown, strict=True):
        torch.testing.assert_close(ours, expected.to(ours.dtype), atol=1e-4, rtol=1e-4)
    assert not dovetail.stats().eager


def test_sign_of_normalized_zeros():
    """Would catch a negative zero where eager's is positive, which `atan2` and a division tell apart."""
    value = torch.tensor([[[-0.0, 1.0, -1.0, 0.0]]])

    def angles(x, weight):
        normal = torch.nn.functional.batch_norm(x, None, None, weight, None, training=True)
        return torch.atan2(x, torch.nn.functional.instance_norm(x)), normal.signbit()

    for weight in (torch.ones(1), -torch.ones(1)):
        for one, other in zip(
            torch.compile(angles, backend="dovetail")(value, weight), angles(value, weight), strict=True
        ):
            assert torch.equal(one, other)


def test_variance_on_a_gpu_is_computed_in_float32():
    """Would catch float64 on a GPU, where it takes ten times as long and no kernel of ours adds it up."""
    with FakeTensorMode():
        for dtype, expected in ((torch.bfloat16, torch.float32), (torch.float64, torch.float64)):
            found = _moments(torch.empty(4, 8, device="cuda", dtype=dtype), [1], 1)
            assert [each.dtype for each in found] == [expected] * 2
        assert _moments(torch.empty(4, 8), [1], 1)[0].dtype is torch.float64


def test_variance_by_channel_stays_whole_on_a_gpu():
    """Would catch three sums, one after the other, that ATen adds up since no kernel of ours does."""
    op = torch.ops.aten.var_mean.correction
    with FakeTensorMode():
        images = torch.empty(2, 3, 4, device="cuda")
        assert VARIANCES[op](images, [0, 2], correction=0) is NotImplemented
        for value, dims in ((images, [1, 2]), (images.half(), [0, 2]), (images.cpu(), [0, 2])):
            assert VARIANCES[op](value, dims, correction=0) is not NotImplemented


def test_batch_norm_of_half_precision_adds_up_on_a_gpu(monkeypatch: pytest.MonkeyPatch):
    """ATen's variance of images that lie channels last took four times as long as sums of their columns."""
    norm, whole = VARIANCES[torch.ops.aten._native_batch_norm_legit.no_stats], []
    monkeypatch.setattr(
        torch.ops.aten.var_mean, "correction", lambda *given, **how: whole.append(given) or given[:1] * 2
    )
    with FakeTensorMode():
        weight = torch.ones(3, device="cuda")
        for dtype in (torch.bfloat16, torch.float32):
            assert (
                norm(torch.empty(2, 3, 4, device="cuda", dtype=dtype), weight, weight, True, 0.1, 1e-5)[0].dtype
                is dtype
            )
            assert len(whole) == (dtype is torch.float32)


def test_batch_norm_of_half_precision_adds_up_twice_on_a_gpu():
    """Would catch the third sum, of what rounding left of the mean, for which the images are read once more."""
    norm = VARIANCES[torch.ops.aten._native_batch_norm_legit.no_stats]
    with FakeTensorMode():
        images = torch.empty(2, 3, 4, 4, device="cuda", dtype=torch.bfloat16)
        weight = torch.ones(3, device="cuda")
        traced = make_fx(lambda x, weight: norm(x, weight, weight, True, 0.1, 1e-5))(images, weight)
    assert [node.target for node in traced.graph.nodes].count(torch.ops.aten.sum.dim_IntList) == 2
