"""Ops on a number that the element type can't hold, as the capture's table decomposes them: eager's results."""

from functools import partial
from math import inf, nan

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional

from dovetail.dialects.torch_facts.kernel_layouts import KERNELS
from dovetail.dialects.torch_facts.rounding import rounded, wrapped
from dovetail.errors import EagerWarning
from dovetail.frontend.decompose.table import decompositions

aten = torch.ops.aten
HALF_PRECISION = (torch.float16, torch.bfloat16)
# Whole vectors of eager's kernels, whose remainders round otherwise; each number is beside a tenth and a third.
NEAR = torch.tensor([0.1, -0.1, 1 / 3, -1 / 3, 0.0, -0.0, 3e-8, -3e-8, 2049, 65504, inf, -inf, nan, 1.0, -2.5, 7.0] * 8)


def make(function, *arguments: torch.Tensor) -> torch.fx.GraphModule:
    return make_fx(function, decomposition_table=decompositions())(*arguments)


def assert_like_eager(function, *arguments: torch.Tensor) -> set[str]:
    """Compares to the last bit; returns the ops of the graph."""
    graph = make(function, *arguments)
    torch.testing.assert_close(graph(*arguments), function(*arguments), rtol=0, atol=0, equal_nan=True)
    return {str(node.target) for node in graph.graph.nodes if node.op == "call_function"}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("number", [0.1, 1 / 3, 2049, 65519, 65520, 1e-9, 3e-8, 6e-8, 1e39, -0.0, 2**53 + 1, 16777217])
def test_numbers_are_rounded_as_by_pytorch(dtype, number):
    """A sum with `alpha` was of a number that eager does not use."""
    tensor = torch.tensor(number, dtype=torch.int64 if isinstance(number, int) else torch.float64)
    assert str(rounded(number, dtype)) == str(tensor.to(getattr(torch, dtype)).item())


@pytest.mark.parametrize(("number", "dtype", "there"), [(2049, "int8", 1), (-129, "int8", 127), (-1, "uint8", 255)])
def test_whole_numbers_keep_their_last_bits(number, dtype, there):
    """The comparison of int8 with 2049 is one with 1 in eager."""
    assert wrapped(number, dtype) == there


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
def test_comparison_of_whole_numbers(dtype):
    """A region compared with all bits of the number, eager with those that the element type has."""

    def compared(x):
        ops = torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge
        numbers = 2049, 524287, -129, 2**31 + 1, 2**53 + 1, 0.5
        return {f"{op.__name__} {number}": op(x, number) for op in ops for number in numbers}

    assert_like_eager(compared, torch.arange(-100, 100).to(dtype))


@pytest.mark.parametrize("dtype", [*HALF_PRECISION, torch.float32, torch.int32])
@pytest.mark.parametrize("number", [1e-9, 16777217, -65520, 2**53 + 1, 0])
def test_products_with_logarithms(number, dtype):
    """`xlogy(x, 1e-9)` of float16 was finite: eager takes the logarithm of 0, to which it rounds the number."""

    def products(x):
        return torch.xlogy(x, number), torch.xlogy(number, x)

    value = NEAR.nan_to_num(3, 9, -9).to(dtype)
    torch.testing.assert_close(make(products, value)(value), products(value), equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
@pytest.mark.parametrize("number", [2, 1.5])
def test_filling_bytes(number, dtype):
    """`x.fill_(2)` of bytes made a region that did not compile."""
    assert assert_like_eager(lambda x: aten.fill.Scalar(x, number), torch.arange(6).to(dtype)) == {
        "aten.full_like.default"
    }


@pytest.mark.parametrize("dtype", HALF_PRECISION)
@pytest.mark.parametrize("number", [0.1, 1 / 3])
def test_shrinking_in_half_precision(number, dtype):
    """`softshrink(x, 0.1)` of the bfloat16 number next to 0.1 was 0."""
    assert_like_eager(lambda x: functional.softshrink(x, number), NEAR.to(dtype))


@pytest.mark.parametrize("dtype", HALF_PRECISION)
@pytest.mark.parametrize("number", [0.1, 1 / 3, 3e-8, 70000.0])
def test_gradients_at_bounds_in_half_precision(number, dtype):
    """The bound was rounded before it was compared: an element next to it lost its gradient, or gained one."""
    value, gradient = NEAR[NEAR == NEAR][:96].to(dtype), torch.ones(96, dtype=dtype)
    assert_like_eager(lambda g, x: aten.hardtanh_backward(g, x, -number, number), gradient, value)
    assert_like_eager(lambda g, x: aten.threshold_backward(g, x, number), gradient, value)
    if number < 1 or dtype is torch.bfloat16:  # what float16 can't hold, eager does not fill in
        assert_like_eager(lambda x: functional.threshold(x, number, -number), NEAR.to(dtype))


@pytest.mark.parametrize("dtype", HALF_PRECISION)
@pytest.mark.parametrize("number", [0.1, 1 / 3])
def test_activations_as_on_gpus(number, dtype, monkeypatch):
    """The CPU's bound, which is not rounded, was taken on GPUs, whose kernels round it; NaN had no gradient there."""
    monkeypatch.setitem(KERNELS, "cpu", "cuda")
    value, near = NEAR.to(dtype), torch.tensor(number, dtype=dtype).item()
    gradient = torch.ones_like(value)
    traced = {
        "softshrink": make(lambda x: functional.softshrink(x, number), value)(value),
        "threshold": make(lambda x: functional.threshold(x, number, 0), value)(value),
        "gradient": make(lambda g, x: aten.threshold_backward(g, x, number), gradient, value)(gradient, value),
        "shrunk": make(lambda g, x: aten.softshrink_backward(g, x, number), gradient, value)(gradient, value),
        "hardtanh": make(lambda g, x: aten.hardtanh_backward(g, x, -1, 1), gradient, value)(gradient, value),
    }
    at, no_number = value == near, value.isnan()
    for name in ("softshrink", "threshold", "gradient", "shrunk"):
        assert not traced[name][at].any(), name
    for name in ("gradient", "shrunk", "hardtanh"):
        assert (traced[name][no_number] == 1).all(), name
    moved = value.float() - near
    torch.testing.assert_close(traced["softshrink"][value > near], moved[value > near].to(dtype), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int64])
@pytest.mark.parametrize(("threshold", "fill"), [(0, 5), (-3e-8, 2.5), (2.5, -1)])
def test_threshold_of_whole_numbers(threshold, fill, dtype):
    """2**63 - 2 became -2**63: IREE thresholds whole numbers as floating-point ones."""
    value = torch.tensor([torch.iinfo(dtype).max - 1, 0, 1, 2, 3, -1], dtype=dtype)
    assert "aten.threshold.default" not in assert_like_eager(lambda x: functional.threshold(x, threshold, fill), value)
    assert_like_eager(lambda x: aten.threshold_backward(torch.ones_like(x), x, threshold), value)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, *HALF_PRECISION])
def test_slope_is_of_negative_numbers_alone(dtype):
    """An infinite slope, or alpha, made NaN of positive numbers and zeros."""
    slopes = inf, -inf, nan, 0.0, 0.1

    def activations(x, positive):
        made = {f"leaky_relu {slope}": functional.leaky_relu(x, slope) for slope in slopes}
        made |= {f"elu {slope}": functional.elu(positive, slope) for slope in slopes}
        return made | {f"celu {slope}": functional.celu(positive, slope) for slope in slopes if slope != 0}  # or raises

    value = NEAR.to(dtype)
    assert_like_eager(activations, value, value.sign().nan_to_num().relu())


@pytest.mark.parametrize("dtype", [torch.float32, *HALF_PRECISION])
def test_pad_by_a_number_that_is_rounded(dtype):
    """IREE rounds no number that is padded with: each such region was split and failed again."""
    pad = partial(functional.pad, pad=[1, 1], value=0.1)
    graph = make(pad, NEAR.to(dtype))
    (padded,) = graph.graph.find_nodes(op="call_function", target=aten.constant_pad_nd.default)
    assert padded.args[2] == torch.tensor(0.1, dtype=dtype).item()
    assert_like_eager(pad, NEAR.to(dtype))


def test_truth_values_as_bounds():
    """torch-mlir takes none: the region failed."""
    assert_like_eager(lambda x: [x.clamp(False, True), x.clamp_min(True)], torch.arange(-3, 3))


def assert_compiled_as_eager(function, *dtypes: torch.dtype):
    """Of tensors without dimensions, one of each type, in one program."""
    given = [torch.tensor(5, dtype=dtype) for dtype in dtypes]
    compiled = torch.compile(lambda *given: [function(x) for x in given], backend="dovetail")(*given)
    torch.testing.assert_close(compiled, [function(x) for x in given], rtol=0, atol=0)


def test_quotient_of_tensor_without_dimensions():
    """The number was a tensor of int64 or float32, which decided the type of the result: int64 for int8 // 3."""

    def divide(x):
        return x // 3, 7 // x, torch.div(x, 0.5, rounding_mode="trunc"), torch.div(x, 3, rounding_mode=None)

    assert_compiled_as_eager(divide, torch.int8, torch.int32, torch.float16, torch.float32)


def test_difference_of_number_and_tensor_without_dimensions():
    """The number was a tensor of int64, which decided the type of the result: -2 of int64 for 3 less 5 of uint8."""

    def subtract(x):
        return [torch.rsub(x, other, alpha=alpha) for other in (3, 0.5) for alpha in (1, 2)]

    assert_compiled_as_eager(subtract, torch.uint8, torch.int8, torch.int64, torch.bfloat16, torch.float32)


@pytest.mark.parametrize("sizes", [(8,), (300,), (300, 5)])
def test_identity_matrices(sizes: tuple[int, ...], recwarn, caplog):
    """Catches counting in uint8, on which iree-compile dies, and in uint16, for which the whole graph ran eagerly."""

    def identity(x):
        return torch.eye(*sizes) + x, torch.eye(*sizes, dtype=torch.int32), torch.arange(8, dtype=torch.uint8) * 40

    x = torch.randn(sizes[-1])
    compiled = torch.compile(identity, backend="dovetail")(x)
    assert not [str(each.message) for each in recwarn if issubclass(each.category, EagerWarning)]
    assert "runs through ATen" not in caplog.text
    torch.testing.assert_close(compiled, identity(x), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16])
def test_ranges_of_narrow_integers(dtype: torch.dtype, caplog):
    """Catches ranges that iree-compile dies on, and a number of uint8 that it refuses, in regions given to it."""

    def count(x):
        return torch.arange(-5 if dtype.is_signed else 0, 9, dtype=dtype), torch.scalar_tensor(3, dtype=dtype), x + 1

    x = torch.randn(30)
    compiled = torch.compile(count, backend="dovetail")(x)
    assert "runs through ATen" not in caplog.text
    torch.testing.assert_close(compiled, count(x), rtol=0, atol=0)


def test_truth_values_of_whole_numbers(caplog):
    """Catches a bool tensor filled with 2 that was False, in place and as new: regions kept the number's last bit."""

    def fill(x):
        return x.fill_(2), torch.full_like(x, 2), torch.full_like(x.float(), 4, dtype=torch.bool)

    compiled = torch.compile(fill, backend="dovetail")(torch.zeros(5, dtype=torch.bool))
    assert "runs through ATen" not in caplog.text
    torch.testing.assert_close(compiled, fill(torch.zeros(5, dtype=torch.bool)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
def test_elements_of_another_type_are_written(dtype: torch.dtype):
    """Catches a tensor that takes the type of what `select_scatter` writes to it, and an op that IREE gets."""
    value, written = NEAR[:32].view(8, 4).nan_to_num(0, 1, 2).to(dtype), torch.tensor([0.5, -2.25, 3.0, 0.0])
    for dim, index in ((0, 1), (0, -1), (1, -4), (-1, 2)):
        row = written if dim == 0 else written.repeat(2)
        compared = assert_like_eager(partial(torch.select_scatter, dim=dim, index=index), value, row)
        assert "aten.where.self" in compared


def test_logarithms_of_numbers():
    """PyTorch makes a tensor of the number by an op that the torch dialect lacks: what takes it ran through ATen."""

    def logarithms(x):
        return torch.xlogy(x, 2.0), torch.special.xlog1py(x, 2.0)

    compiled = torch.compile(logarithms, backend="dovetail", options={"strict": True})
    x = torch.tensor([0.0, -0.0, 1.5, -2.0, nan, inf])
    torch.testing.assert_close(compiled(x), logarithms(x), equal_nan=True)
