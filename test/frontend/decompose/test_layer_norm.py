"""Layer normalization as it is traced, against eager on ordinary and special values."""

import math

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import dovetail
from dovetail.frontend.decompose.norms import layer_norm, layer_norm_backward

SPECIAL = [0.0, -0.0, 1.0, 3.0, 1e-30, 1e18, 1e19, math.inf, -math.inf, math.nan]


def _close(actual, expected):
    torch.testing.assert_close(actual, expected, equal_nan=True)


@pytest.mark.parametrize("special", SPECIAL)
def test_special_values(special: float):
    """Would catch a finite result where eager's variance overflows, a lost NaN, and a division by zero."""
    for row in (torch.full((2, 6), special), torch.tensor([[special, 1.0, 2.0, -3.0]])):
        size = row.shape[-1]
        weight, bias = torch.linspace(0.5, 2, size), torch.linspace(-1, 1, size)
        expected, _, scale = torch.native_layer_norm(row, (size,), weight, bias, 1e-5)
        actual, mean, actual_scale = layer_norm(row, [size], weight, bias, 1e-5)
        _close((actual, actual_scale), (expected, scale))
        _close(mean, row.mean(-1, keepdim=True))


@pytest.mark.parametrize("special", [1e20, torch.finfo(torch.float32).max])
@pytest.mark.parametrize("size", [4, 100])
def test_difference_whose_square_overflows(special: float, size: int):
    """Would catch another result than docs/limits.md says: eager's is NaN or ours, by the size."""
    row = torch.linspace(-3, 3, size).reshape(1, size).index_fill(1, torch.tensor([0]), special)
    actual, mean, scale = layer_norm(row, [size], None, None, 1e-5)
    assert torch.equal(actual, torch.zeros_like(row))
    assert torch.equal(scale, torch.zeros(1, 1))
    torch.testing.assert_close(mean, row.mean(-1, keepdim=True))
    expected = torch.native_layer_norm(row, (size,), None, None, 1e-5)[0]
    assert expected.isnan().all() or torch.equal(expected, actual)


def test_row_of_one_large_number():
    """Would catch another result than docs/limits.md says."""
    row = torch.full((1, 4), 1e20)
    assert torch.equal(layer_norm(row, [4], None, None, 1e-5)[0], torch.zeros(1, 4))
    assert torch.native_layer_norm(row, (4,), None, None, 1e-5)[0].isnan().all()


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_is_as_exact_as_eager(offset: float):
    """Would catch a variance that cancels: from the mean of the squares and the square of the mean."""
    value = torch.randn(64, 256) + offset
    wide = torch.native_layer_norm(value.double(), (256,), None, None, 1e-5)[0]
    eager = (torch.native_layer_norm(value, (256,), None, None, 1e-5)[0] - wide).abs().max()
    ours = (layer_norm(value, [256], None, None, 1e-5)[0] - wide).abs().max()
    assert ours <= 4 * eager


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_other_types_are_left_to_pytorch(dtype: torch.dtype):
    """Would catch means of a half's thousands of numbers that are added up in half precision."""
    value = torch.randn(4, 3000).to(dtype)
    _close(layer_norm(value, [3000], None, None, 1e-5)[0], torch.native_layer_norm(value, (3000,), None, None, 1e-5)[0])


def test_no_elements():
    """Would catch a mean of nothing that changes the shape or the type of what eager returns."""
    value = torch.empty(0, 4)
    for actual, wanted in zip(
        layer_norm(value, [4], None, None, 1e-5), torch.native_layer_norm(value, (4,), None, None, 1e-5), strict=True
    ):
        _close(actual, wanted)


def test_gradients():
    """Would catch a backward that expects statistics of another shape, and a layer norm that leaves the region."""
    norm = torch.nn.LayerNorm((3, 4))
    value = torch.randn(2, 3, 4, requires_grad=True)
    names = (value, *norm.parameters())
    expected = torch.autograd.grad((norm(value) ** 2).sum() + norm(value).sum(), names)
    dovetail.stats(reset=True)
    compiled = torch.compile(lambda x: (norm(x) ** 2).sum() + norm(x).sum(), backend="dovetail")
    torch.testing.assert_close(torch.autograd.grad(compiled(value), names), expected)
    assert not dovetail.stats().library_calls


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_gradient_of_a_long_row_in_half_precision(dtype: torch.dtype):
    """Would catch a division by the count in half precision, which has no number so large: the gradient was 0."""
    value = torch.randn(70001).to(dtype).requires_grad_()
    gradient = torch.randn(70001).to(dtype)

    def normalized(value: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.layer_norm(value, value.shape)

    (expected,) = torch.autograd.grad(normalized(value), value, gradient)
    (actual,) = torch.autograd.grad(torch.compile(normalized, backend="dovetail")(value), value, gradient)
    _close(actual, expected)


def test_gradients_of_many_numbers_are_one_library_call(op_by_op):
    """Catches a large layer norm in many kernels, gradients that lie otherwise, and a call for what has no kernel.

    Of open sizes, those of the first call decide, and their program serves all that follow.
    """

    norm = lambda x, *parameters: torch.nn.functional.layer_norm(x, x.shape[1:], *parameters)  # noqa: E731

    def check(compiled, *given: torch.Tensor) -> None:
        leaves = [each.detach().requires_grad_() for each in given]
        tangent = torch.randn(given[0].shape[::-1]).t().to(given[0].dtype)
        results = [torch.autograd.grad(each(*leaves), leaves, tangent) for each in (compiled, norm)]
        exact = torch.autograd.grad(norm(*[each.double() for each in leaves]), leaves, tangent.double())
        for ours, eager, right in zip(*results, exact, strict=True):
            assert ours.stride() == eager.stride()
            error, allowed = ((each - right).abs().max() for each in (ours, eager))
            assert error <= 3 * allowed + 1e-6 * right.abs().max()

    def calls(*given: torch.Tensor, further: tuple[int, ...] = ()) -> int:
        torch._dynamo.reset()
        dovetail.stats(reset=True)
        dynamic = True if further else None
        compiled = torch.compile(norm, backend="dovetail", options={"strict": True}, dynamic=dynamic)
        check(compiled, *given)
        for rows in further:
            check(compiled, torch.randn(rows, *given[0].shape[1:]), *given[1:])
        assert dovetail.stats().graphs == 1
        assert not dovetail.stats().specialised
        return sum(count for (name, _), count in dovetail.stats().library_calls.items() if "layer_norm" in name)

    torch.manual_seed(0)
    x, weight, bias = torch.randn(700, 752), torch.randn(752), torch.randn(752)
    assert calls(x, weight, bias) == 1
    assert calls(x.t().contiguous().t(), weight, bias) == 1
    assert not calls(x[:600], weight, bias)
    assert not calls(x, weight)
    assert calls(x, weight, bias, further=(800, 7, 2)) == 1
    assert not calls(x[:600], weight, bias, further=(800, 7, 2))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_gradients_of_half_precision_are_of_its_types(dtype: torch.dtype):
    """Would catch gradients of float32 for what was widened, and conversions that name a memory format, not merged."""
    gradient, value, weight = (torch.randn(sizes).to(dtype) for sizes in ((6, 32), (6, 32), (32,)))
    bias = torch.randn(32)
    _, mean, reciprocal = torch.native_layer_norm(value, (32,), weight, bias.to(dtype), 1e-5)

    def gradients(*given: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        return layer_norm_backward(gradient, value, [32], mean, reciprocal, *given, [True, True, True])

    graph = make_fx(gradients)(weight, bias).graph
    assert not any("memory_format" in node.kwargs for node in graph.nodes)
    assert [each.dtype for each in gradients(weight, bias)] == [dtype, dtype, torch.float32]
    assert gradients(None, None)[1:] == (None, None)
    turned = layer_norm_backward(gradient.t().contiguous().t(), value, [32], mean, reciprocal, weight, bias, [True] * 3)
    for ours, others in zip(gradients(weight, bias), turned, strict=True):
        assert torch.equal(ours, others)
