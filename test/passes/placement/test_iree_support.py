"""What is handed to IREE: the refusals, and a compiled part of the op sweep (`make sweep` runs all of it)."""

import operator
import platform

import pytest
import torch

import dovetail
from dovetail.dialects.torch_facts.types import TensorInfo
from dovetail.passes.placement.iree_support import refusal
from dovetail.tools.sweep.cases import HARD_NUMBERS, Case, all_cases
from dovetail.tools.sweep.check import check, runs_in_eager
from dovetail.tools.sweep.cpu import target_for_cpu

# What models use all the time: these must be right, and must stay in regions.
FREQUENT = (
    "abs add addcdiv addcmul amax amin any argmax clamp clamp_min cat clone div eq exp ge gelu gt hardtanh isnan le "
    "leaky_relu log logical_and lt masked_fill max maximum mean minimum mul ne neg pow reciprocal relu rsqrt rsub "
    "sigmoid sign silu sqrt sub sum tanh threshold_backward triu var where _softmax _log_softmax _to_copy"
).split()


def info(dtype: str, *shape: int) -> TensorInfo:
    return TensorInfo(shape, dtype, torch.tensor([], dtype=getattr(torch, dtype)).itemsize)


# In half precision the others are conversions around what single precision has.
FREQUENT_OF_HALF_PRECISION = (
    "add addcmul amax argmax clamp clone div exp ge gelu masked_fill mean mul pow sigmoid silu sub sum tanh "
    "threshold_backward where _softmax _log_softmax _to_copy"
).split()


def frequent_cases(dtype: torch.dtype) -> list[Case]:
    """Without numbers that a type can't hold, of which test/passes/regions/test_keep_scalars.py has some."""
    return [
        case
        for case in all_cases(FREQUENT if dtype is torch.float32 else FREQUENT_OF_HALF_PRECISION)
        if case.dtype is dtype
        and case.shape == "full"
        and not any(each in HARD_NUMBERS for each in (*case.arguments, *dict(case.keywords).values()))
        and runs_in_eager(case)
    ]


# Calls that only a library kernel gets right, or that it does faster.
LEFT_TO_ATEN = {
    "aten.cat.default",
    "aten.div.Tensor_mode",
    "aten.div.Scalar_mode",
    "aten.pow.Tensor_Tensor",
    "aten.pow.Tensor_Scalar",
    "aten.pow.Scalar",
}


@pytest.mark.parametrize("dtype", [torch.float32, pytest.param(torch.bfloat16, marks=pytest.mark.slow)])
def test_frequent_ops_are_right_and_compiled(dtype):
    """NaN dropped by a maximum, -inf from a power, half-precision sums: all silent. And a refusal too many is slow."""
    outcomes = check(frequent_cases(dtype), decompose=True)
    assert [f"{outcome.case}: {outcome.failed or outcome.differs}" for outcome in outcomes if outcome.wrong] == []
    refused = {outcome.case.name: outcome.refused for outcome in outcomes if outcome.refused}
    assert {name: reason for name, reason in refused.items() if name not in LEFT_TO_ATEN} == {}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="runs code for x86-64, as any x86 CPU can")
def test_older_cpu():
    """Without AVX-512, 200 as uint8 came out as 127, and integers as bfloat16 did not link; nor did a ceiling."""
    types, shapes = (torch.float32, torch.int64, torch.int8), ("full", "odd")  # an odd one's rest goes one by one
    cases = [case for case in all_cases(["_to_copy"]) if case.dtype in types and case.shape in shapes]
    cases += [case for case in all_cases(["ceil"]) if case.dtype is torch.float64]
    outcomes = check([case for case in cases if runs_in_eager(case)], True, target_for_cpu("x86-64"))
    assert [f"{outcome.case}: {outcome.failed or outcome.differs}" for outcome in outcomes if outcome.wrong] == []


@pytest.mark.parametrize(
    ("name", "tensors", "reason"),
    [
        ("aten.maximum.default", [info("float32", 4)] * 3, "drops NaN"),
        ("aten.sum.dim_IntList", [info("bfloat16", 4, 4), info("bfloat16", 4)], "half precision"),
        ("aten.sin.default", [info("float64", 4)] * 2, "large arguments"),
        ("aten.add.Scalar", [info("uint8", 4)] * 2, "signed"),
        ("aten.gt.Scalar", [info("bool", 4)] * 2, "truth values"),
        ("aten.remainder.Tensor", [info("int64", 4)] * 3, "divisor 0"),
        ("aten.add.Tensor", [info("complex64", 4)] * 3, "can't be imported"),
        ("aten.amax.default", [info("float32"), info("float32")], "0-dim"),
        ("aten.tanh.default", [info("float64", 4)] * 2, "does not link"),
        ("aten.add.Tensor", [info("bool", 4)] * 3, "modulo 2"),
        ("aten.rsub.Scalar", [info("int8", 4)] * 2, "crashes"),
        ("aten.threshold_backward.default", [info("int8", 4)] * 3, "crashes"),
        ("aten._to_copy.default", [info("float32", 4), info("uint8", 4)], "saturates"),
        ("aten.sum.dim_IntList", [info("float32", 4, 4), info("int8", 4)], "saturates"),
        ("aten.cat.default", [info("float32", 4), info("uint8", 4), None, info("float32", 8)], "becomes another type"),
        ("aten.where.self", [info("bool", 4), info("uint8", 4), info("int16", 4), info("int16", 4)], "another type"),
        ("aten.lt.Tensor", [info("bool", 4), info("int64", 4), info("bool", 4)], "two types"),
        ("aten.constant_pad_nd.default", [info("float32", 4, 4), None, info("float32", 6, 2)], "negative padding"),
    ],
)
def test_refused(name, tensors, reason):
    """Each of these was compiled to wrong numbers, to a crash, or not at all."""
    assert reason in refusal(name, tensors, "cpu")


@pytest.mark.parametrize(
    ("name", "tensors"),
    [
        ("aten.maximum.default", [info("int64", 4)] * 3),
        ("aten.gt.Scalar", [info("float32", 4), info("bool", 4)]),
        ("aten.sum.dim_IntList", [info("float32", 4, 4), info("float32", 4)]),
        ("aten._to_copy.default", [info("uint8", 4), info("float32", 4)]),
        ("aten.exp.default", [info("float64", 4)] * 2),
        ("aten.add.Tensor", [info("bool", 4), info("float32", 4), None, info("float32", 4)]),
        ("prims.convert_element_type.default", [info("uint8", 4), info("bool", 4)]),
        ("aten.where.self", [info("bool", 4)] + [info("uint8", 4)] * 3),
        ("aten.cat.default", [info("uint8", 4), info("uint8", 4), None, info("uint8", 8)]),
        ("aten.constant_pad_nd.default", [info("float32", 4, 4), None, info("float32", 6, 4)]),
        ("aten.lt.Tensor", [info("int64", 4), info("int64", 4), info("bool", 4)]),
    ],
)
def test_not_refused(name, tensors):
    """A rule that matches too much takes frequent ops out of the regions: a comparison's result is always bool."""
    assert refusal(name, tensors, "cpu") == ""


# Enough elements for a region to be worth while, by the cost model.
SIZE = 4096


SHIFTS = torch.bitwise_left_shift, torch.bitwise_right_shift


def _full(number: float, dtype: torch.dtype) -> torch.Tensor:
    return torch.full((SIZE,), number, dtype=dtype)


def _bytes(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Whole numbers of all bits: through int64, by which a byte of -1 is 255."""
    return (value * 60).to(torch.int64).to(dtype)


def _folded(value: torch.Tensor) -> list[torch.Tensor]:
    """Ops on constants, of which fold-constants knows some; IREE would fold each to another number."""
    return [
        value.exp(),
        _full(True, torch.bool) + _full(True, torch.bool),
        *[_full(number, dtype) % 3 for number in (-7, 7) for dtype in (torch.int16, torch.int32, torch.int64)],
        *[_full(7, torch.int64) % -3, _full(-7, torch.int32) % 4, (_full(-7, torch.int64) & -1) % 3],
        *[_full(2.5, dtype).trunc() for dtype in (torch.float32, torch.bfloat16)],
        *[_full(2.5, dtype).sign() for dtype in (torch.float32, torch.float64, torch.float16)],
        *[compare(_full(2.5, torch.bfloat16), 0) for compare in (torch.gt, torch.ge, torch.lt, torch.le)],
        *[compare(_full(0.0, torch.float16), 0) for compare in (torch.eq, torch.ne)],
    ]


def _computed(value: torch.Tensor) -> list[torch.Tensor]:
    """The same ops on what is not known, where they are right and must stay compiled."""
    truth, number = value > 0, (value * 100).to(torch.int64)
    return [
        *[truth + True, truth + False, truth + (value > -1), torch.add(truth, value), truth + 1],
        *[number % divisor for divisor in (3, -3, 4, -4)],
        torch.arange(-7, SIZE) % 3,
        *[shift(number, torch.full((), by, dtype=torch.int64)) for by in (0, 1, 63) for shift in SHIFTS],
        *[shift(number, by) for by in (0, 1, 63) for shift in (*SHIFTS, operator.lshift, operator.rshift)],
        *[shift(number.to(torch.int32), by) for by in (5, 31) for shift in (*SHIFTS, operator.lshift, operator.rshift)],
        *[shift(_bytes(value, dtype), 7) for dtype in (torch.int8, torch.int16) for shift in SHIFTS],
        *[value.trunc(), value.sign(), value.to(torch.bfloat16) > 0],
    ]


def _strictly_compiled(function, *arguments: torch.Tensor) -> list[torch.Tensor]:
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    return torch.compile(function, backend="dovetail", options={"strict": True})(*arguments)


def test_what_iree_folds_wrongly_is_right():
    """Would catch -7 % 3 = -1, true + true = false, trunc(2.5) = -2, sign(2.5) = -1: constants, but for the first."""
    value = torch.linspace(-2, 2, SIZE)
    torch._dynamo.reset()
    compiled = torch.compile(_folded, backend="dovetail")(value)
    for expected, actual in zip(_folded(value), compiled, strict=True):
        torch.testing.assert_close(actual, expected)


def test_sign_of_what_the_dialect_has_no_op_for():
    """Would catch the search for constants that takes the attribute `name` of a `torch.operator` for the op's."""
    x = torch.linspace(-1, 1, 20).view(4, 5)
    dovetail.stats(reset=True)
    compiled = torch.compile(lambda x: x.cummax(0).values.sign(), backend="dovetail")(x)
    assert compiled.equal(x.cummax(0).values.sign())
    assert not dovetail.stats().eager


def test_what_iree_computes_right_stays_compiled():
    """Would catch truth values that are added modulo 2, and ops that are refused since IREE folds them wrongly; `fmax`
    that drops a number for NaN or does not broadcast, a NaN without angle, `ldexp` in ATen, and shifts by less than
    all bits."""
    special = torch.tensor([0.0, 1.5, -2.0, float("inf"), float("-inf"), float("nan"), 3.0, -0.5])
    functions = torch.fmax, torch.fmin, torch.ldexp, lambda x, _: x.angle()

    def function(value, left, right):
        return [*_computed(value), *(each(left, right) * 2 for each in functions)]

    given = torch.linspace(-2, 2, SIZE), special.repeat(SIZE // 8).view(8, -1), special.view(8, 1)
    torch.testing.assert_close(_strictly_compiled(function, *given), function(*given), equal_nan=True)
    assert dovetail.stats().regions


def test_constants_of_truth_values_and_bytes_compile():
    """Would catch a literal of bytes in a region, which IREE takes for one of signed numbers and refuses."""

    def function(*given: torch.Tensor) -> list[torch.Tensor]:
        results = []
        for value in given:
            size = value.numel()
            truths = torch.tensor([True, False, True, True] * size)[:size]
            numbers = torch.tensor([200, 255, 3, 0] * size, dtype=torch.uint8)[:size]
            results += [torch.where(truths, value.exp(), -value), numbers.float() * value.exp()]
        return results

    given = [torch.linspace(-2, 2, size) for size in (1, SIZE)]
    torch.testing.assert_close(_strictly_compiled(function, *given), function(*given))
