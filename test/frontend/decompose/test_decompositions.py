"""What the capture's table makes of ops: right by eager's kernels, and without the ops that IREE gets wrong."""

import math
import operator
from functools import partial

import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from dovetail.errors import EagerWarning
from dovetail.frontend.decompose.table import decompositions

NAN, INF = math.nan, math.inf
SPECIAL = [NAN, INF, -INF, 0.0, -1.0, 2.0, 0.5, -0.5]

aten = torch.ops.aten


def decomposed(function, *arguments: torch.Tensor) -> tuple[torch.fx.GraphModule, set[str]]:
    graph = make_fx(function, decomposition_table=decompositions())(*arguments)
    return graph, {str(node.target) for node in graph.graph.nodes if node.op == "call_function"}


def pairs(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    values = torch.tensor(SPECIAL, dtype=dtype)
    return values.repeat_interleave(len(values)), values.repeat(len(values))


def _shifted(shift, by: int):
    return lambda value: shift(value, by)


SHIFTS = (operator.lshift, operator.rshift, torch.bitwise_left_shift, torch.bitwise_right_shift)


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool])
def test_shifts_by_a_number(shift, dtype):
    """Catches `x >> 1` that runs through ATen, and a shift by less than 0, or by the width, that is another number."""
    value = torch.tensor([0, 1, -1, 7, -128, 200, 2**31, -(2**63)]).to(dtype)
    bits = torch.iinfo(dtype).bits if dtype.is_signed else 0
    for by in (0, 1, 7, 8, 31, 32, 63, 64, -1, 256, 257):
        graph, targets = decomposed(_shifted(shift, by), value)
        expected, actual = shift(value, by), graph(value)
        assert (actual.dtype, actual.tolist()) == (expected.dtype, expected.tolist()), by
        is_known = any(target.startswith("aten.bitwise_") and target.endswith("_shift.Tensor") for target in targets)
        assert is_known is (by in range(bits)), by


@pytest.mark.parametrize("shift", SHIFTS)
def test_shifts_by_a_tensor(shift):
    """Catches an operator of Python's that is another op than the function of that name."""
    value, by = torch.tensor([1, -1, 7]), torch.tensor([1, 64, -1])
    graph, targets = decomposed(shift, value, by)
    assert graph(value, by).tolist() == shift(value, by).tolist()
    assert {target.partition(".")[2] for target in targets} < {
        "bitwise_left_shift.Tensor",
        "bitwise_right_shift.Tensor",
    }


@pytest.mark.parametrize("op", [torch.maximum, torch.minimum])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_extremum_of_two_keeps_nan(op, dtype):
    """IREE's own maximum drops a NaN on either side."""
    left, right = pairs(dtype)
    graph, targets = decomposed(op, left, right)
    assert not targets & {"aten.maximum.default", "aten.minimum.default"}
    torch.testing.assert_close(graph(left, right), op(left, right), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("bounds", [(-1, 1), (None, 0.5), (-0.5, None), (2, -1), (NAN, 1.0)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_clamp_keeps_nan_and_dtype(bounds, dtype):
    """IREE's clamp turns NaN into a bound; the result of whole numbers with a fractional bound is fractional."""
    value = pairs()[0].nan_to_num(0, 100, -100).to(dtype) if dtype is torch.int64 else pairs(dtype)[0]
    if dtype is torch.int64 and bounds[0] is not None and math.isnan(bounds[0]):
        pytest.skip("eager has no NaN bound for whole numbers")
    graph, _ = decomposed(lambda each: torch.clamp(each, *bounds), value)
    torch.testing.assert_close(graph(value), torch.clamp(value, *bounds), rtol=0, atol=0, equal_nan=True)


def test_clamp_by_tensors_keeps_nan():
    """A NaN bound makes the result NaN in eager."""
    low, high = pairs()
    value = low.flip(0)
    graph, targets = decomposed(torch.clamp, value, low, high)
    assert "aten.clamp.Tensor" not in targets
    torch.testing.assert_close(graph(value, low, high), torch.clamp(value, low, high), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dim", [None, 0, 1])
@pytest.mark.parametrize("op", [torch.argmax, torch.argmin])
def test_arg_extremum_finds_first_nan(op, dim):
    """IREE's index passes over NaN; ties go to the first."""
    value = torch.tensor([[1.0, 3.0, 3.0, -INF], [INF, NAN, 2.0, NAN], [-1.0, -1.0, -2.0, -2.0]])
    graph, _ = decomposed(lambda each: op(each, dim), value)
    assert torch.equal(graph(value), op(value, dim))


def test_max_of_a_dim_gives_values_and_indices():
    """`max.dim` shares the fault of `argmax`."""
    value = torch.tensor([[1.0, 3.0, 3.0], [INF, NAN, 2.0]])
    graph, targets = decomposed(lambda each: torch.max(each, 1), value)
    assert "aten.max.dim" not in targets
    torch.testing.assert_close(graph(value), list(torch.max(value, 1)), equal_nan=True)


BEYOND = [200, 255.5, -1, -129.9, 300, 40000, -40001, 70000, 2**31 + 5, -(2**31) - 3, 2**40 + 77, 1e19, INF, -INF, NAN]


@pytest.mark.parametrize("narrow", [torch.int8, torch.uint8, torch.int16])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_conversion_to_narrow_integers_keeps_the_last_bits(dtype, narrow):
    """Code for some CPUs gives 127 for 200 as uint8: they pack with saturation."""
    value = torch.tensor(BEYOND, dtype=torch.float64).to(dtype)
    graph, _ = decomposed(lambda each: each.to(narrow), value)
    casts = [node.kwargs["dtype"] for node in graph.graph.find_nodes(op="call_function", target=aten._to_copy.default)]
    assert len(casts) == 2
    assert casts[0] in (torch.int32, torch.int64)
    assert torch.equal(graph(value), value.to(narrow))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("op", [torch.sum, torch.mean, torch.linalg.vector_norm, torch.var])
def test_reductions_of_halves_add_up_in_a_wider_type(op, dtype):
    """IREE adds up in the element type: 20000 bfloat16 numbers came out 80 % too small."""
    value = torch.rand(20000).to(dtype)
    graph, _ = decomposed(op, value)
    for node in graph.graph.nodes:
        if node.op == "call_function" and str(node.target).split(".")[1] in (
            "sum",
            "mean",
            "linalg_vector_norm",
            "var",
        ):
            assert node.args[0].meta["val"].dtype in (torch.float32, torch.float64), node
    torch.testing.assert_close(graph(value), op(value))


@pytest.mark.parametrize("power", [-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3])
def test_small_powers(power):
    """IREE gives -inf for 0 to a negative whole power."""
    value = torch.tensor([0.0, -0.0, 1.5, -1.5, INF, NAN])
    graph, targets = decomposed(lambda each: torch.pow(each, power), value)
    assert power == 0 or not any("pow" in target for target in targets)
    torch.testing.assert_close(graph(value), torch.pow(value, power), equal_nan=True)


@pytest.mark.parametrize("base", [0.9, 0.999, 1.0000001, 2, 10.0, 1e-30, 3e38, True, 0.0, -2.0, 1e-40, INF, NAN])
def test_powers_of_a_number(base):
    """An optimizer's bias corrections ran through ATen, call by call; IREE's own power is up to 34 units off."""
    value = torch.cat([torch.linspace(-160, 160, 10001), torch.tensor([0.0, -0.0, INF, -INF, NAN, 1e30, -1e30])])
    graph, targets = decomposed(lambda each: base**each, value)
    assert ("aten.pow.Scalar" in targets) == (not 1e-38 < base < INF or base is True)
    torch.testing.assert_close(graph(value), base**value, rtol=2**-23, atol=2**-149, equal_nan=True)


def test_powers_of_a_number_in_other_types():
    """Float64 would be rounded to float32, half precision twice, and whole numbers have float32 powers of their own."""
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int32):
        _, targets = decomposed(lambda each: 0.9**each, torch.arange(5).to(dtype))
        assert "aten.pow.Scalar" in targets


@pytest.mark.parametrize(("shape", "is_left"), [((), False), ((1,), True), ((5,), True)])
def test_powers_of_a_number_on_gpus(shape: tuple[int, ...], is_left: bool):
    """Catches float64 for many numbers, which GPUs are slow at, and a count of steps left to a launch of ATen's."""
    with FakeTensorMode():
        _, targets = decomposed(lambda each: 0.9**each, torch.empty(shape, device="cuda"))
    assert ("aten.pow.Scalar" in targets) == is_left


@pytest.mark.parametrize("pad", [[-1, -2], [2, -1, -1, 3]])
def test_negative_pad(pad):
    """torch-mlir refuses a negative pad, and the whole region with it."""
    value = torch.arange(20.0).view(4, 5)
    graph, _ = decomposed(lambda each: aten.constant_pad_nd(each, pad, 7.0), value)
    pads = [node.args[1] for node in graph.graph.find_nodes(op="call_function", target=aten.constant_pad_nd.default)]
    assert all(size >= 0 for sizes in pads for size in sizes)
    assert torch.equal(graph(value), aten.constant_pad_nd(value, pad, 7.0))


def test_whole_numbers_are_negated_exactly():
    """IREE negates them through floating point."""
    value = torch.tensor([2**62 + 1, -(2**63) + 1, 0, 5])
    graph, targets = decomposed(torch.neg, value)
    assert "aten.neg.default" not in targets
    assert torch.equal(graph(value), -value)


def _swapped(number: float, op, value: torch.Tensor) -> torch.Tensor:
    return op(value, number)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.int64])
@pytest.mark.parametrize("op", [torch.gt, torch.ge, torch.eq])
def test_comparison_with_a_number_rounds_it(op, dtype):
    """IREE compares as float64, where float32's 0.3 is greater than 0.3; eager rounds the number first."""
    for number in (0.3, -1.828613282506104, 1e-42, 70000.0, 16777216.0):
        value = torch.tensor([number, 1.0]).to(dtype) + (dtype is torch.int64)
        graph, _ = decomposed(partial(_swapped, number, op), value)
        (compared,) = [node for node in graph.graph.nodes if str(node.target).startswith(f"aten.{op.__name__}")]
        rounded = compared.args[1]
        assert rounded == torch.tensor(rounded, dtype=torch.float32 if dtype is torch.int64 else dtype).item()
        assert torch.equal(graph(value), op(value, number))


@pytest.mark.parametrize("op", [torch.var, torch.std, torch.var_mean, torch.std_mean])
@pytest.mark.parametrize(
    "value", [torch.rand(5, 8), torch.rand(5, 8).double(), torch.full((5, 8), 0.1), torch.rand(5, 1)]
)
@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
def test_degrees_of_freedom_are_never_negative(op, value):
    """The variance of 8 numbers with a correction of 10 was negative; eager's is infinite, or NaN of equal numbers."""

    def corrected(each):
        return {str(correction): op(each, dim=-1, correction=correction) for correction in (0, 1, 2.5, 8, 10)}

    graph, targets = decomposed(corrected, value)
    assert not any("var" in target or "std" in target for target in targets)
    torch.testing.assert_close(graph(value), corrected(value), equal_nan=True)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("dim", [None, 0, (0, 1)])
def test_norms_are_sums(order, dtype, dim):
    """A norm of a million numbers was off by 2e-4: only sums are added up in blocks."""
    value = torch.rand(40, 30).to(dtype)
    graph, targets = decomposed(lambda each: torch.linalg.vector_norm(each, order, dim), value)
    assert "aten.sum.dim_IntList" in targets
    torch.testing.assert_close(graph(value), torch.linalg.vector_norm(value, order, dim))


@pytest.mark.parametrize("order", [0, 0.5, 1, 2, 3, -1, INF, -INF])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_norm_of_one_number_is_its_size(order, dtype):
    """The square of 3e38 was infinite, and so was its norm; eager takes no power of what stands alone."""
    largest = torch.finfo(dtype).max
    value = torch.tensor([largest, -largest / 3, NAN, -INF, 0.0, -0.0, 1 / largest], dtype=dtype).view(1, 7, 1)

    def norms(each):
        options = [(dims, keepdim) for dims in (0, [0, 2], [-1]) for keepdim in (False, True)]
        return {str(option): torch.linalg.vector_norm(each, order, *option) for option in options}

    graph, _ = decomposed(norms, value)
    torch.testing.assert_close(graph(value), norms(value), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("sizes", [(1, 3), (3, 1)])
def test_parts_of_another_shape_are_refused(sizes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a result that lies as PyTorch's kernel says, but has other sizes, as that of an LSTM in parts in 2.11."""
    table = {**decompositions(), aten.frac.default: lambda x: (x - x.trunc()).view(sizes)}
    monkeypatch.setattr("dovetail.frontend.decompose.table._table", lambda: table)
    compiled = torch.compile(torch.frac, backend="dovetail", fullgraph=True)
    x = torch.tensor([[1.5], [2.25], [-0.5]] if sizes == (1, 3) else [1.5, 2.25, -0.5])
    with pytest.warns(EagerWarning, match="PyTorch gives one result the sizes"):
        torch.testing.assert_close(compiled(x), x.frac())
