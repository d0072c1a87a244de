"""Between which numbers indices lie: what is proved here, regions read without a check."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from torch_mlir import ir

from dovetail.dialects.building.cloning import constant_none
from dovetail.dialects.context import make_context
from dovetail.dialects.reading import arguments
from dovetail.dialects.torch_facts.ranges import Range, range_of, shifts_in_range
from dovetail.dialects.torch_facts.types import tensor_type, with_dtype
from dovetail.passes.rewriting.constants import ARANGE, constant, dtype_number, full
from dovetail.passes.rewriting.rules import create
from dovetail.passes.rewriting.sums import with_sizes

ALL_INT8, ALL_INT32 = Range(-128, 127), Range(-(2**31), 2**31 - 1)
GIVEN = "int32 int64 int8 bool uint8 float32"


@dataclass
class _Given:
    """Eight numbers of each of `GIVEN`."""

    int32: ir.Value
    int64: ir.Value
    int8: ir.Value
    bool: ir.Value
    uint8: ir.Value
    float32: ir.Value


def _arange(start: int, end: int, step: int = 1, said: str = "int32", count: int = 8) -> ir.Value:
    ends = [*map(constant, (start, end, step)), dtype_number(said), constant_none(), constant_none(), constant(False)]
    return create(ARANGE, ends, tensor_type([count], "int32"))


def _made(name: str, dtype: str, *operands: ir.Value | float) -> ir.Value:
    """Builds an op of eight numbers."""
    taken = [each if isinstance(each, ir.Value) else constant(each) for each in operands]
    return create(f"torch.aten.{name}", taken, tensor_type([8], dtype))


def _copied(value: ir.Value, said: str, dtype: str) -> ir.Value:
    none = constant_none()
    taken = [value, dtype_number(said), none, none, none, constant(False), none]
    return create("torch.aten._to_copy", taken, with_dtype(value.type, dtype))


def _shifted(value: ir.Value, by: int, dtype: str = "int32") -> ir.Value:
    return _made("bitwise_right_shift.Tensor", dtype, value, full(tensor_type([], dtype), constant(by)))


def _chosen(condition: ir.Value) -> ir.Value:
    return _made("where.ScalarOther", "int32", condition, _arange(0, 8), -16)


CASES: dict[str, tuple[Callable[[_Given], ir.Value], Range | None]] = {
    "given": (lambda given: given.int8, ALL_INT8),
    "given as bytes": (lambda given: given.uint8, None),
    "given as floating point": (lambda given: given.float32, None),
    "given in another shape": (lambda given: with_sizes(given.int8, (2, 4)), ALL_INT8),
    "counted": (lambda _: _arange(0, 8), Range(0, 7)),
    "counted by steps": (lambda _: _arange(-3, 20, 3), Range(-3, 18)),
    "counted down": (lambda _: _arange(7, -1, -1), Range(0, 7)),
    "counted to elsewhere": (lambda _: _arange(0, 9), None),
    "counted from nothing": (lambda _: _arange(8, 0, count=0), None),
    "counted by nothing": (lambda _: _arange(0, 8, 0), None),
    "counted beyond the type": (lambda _: _arange(2**31 - 4, 2**31 + 4), None),
    "counted in another type": (lambda _: _arange(0, 8, said="int64"), None),
    "filled": (lambda _: full(tensor_type([8], "int8"), constant(-7)), Range(-7, -7)),
    "filled with what is cut off": (lambda _: full(tensor_type([8], "int8"), constant(200)), None),
    "filled with floating point": (lambda _: full(tensor_type([8], "int8"), constant(7.0)), None),
    "less than 0": (lambda _: _made("add.Scalar", "int32", _arange(0, 8), -1, 1), Range(-1, 6)),
    "a sum": (lambda _: _made("add.Tensor", "int32", _arange(0, 8), _arange(0, 8), 1), Range(0, 14)),
    "a difference": (lambda _: _made("sub.Tensor", "int32", _arange(0, 8), _arange(0, 8), -3), Range(0, 28)),
    "a sum that may overflow": (lambda given: _made("add.Scalar", "int32", given.int32, 1, 1), ALL_INT32),
    "a sum of others": (lambda given: _made("add.Tensor", "int32", given.int64, given.int8, 1), None),
    "a sum of truth values": (lambda given: _made("add.Tensor", "int32", given.bool, given.int8, 1), None),
    "a product": (lambda _: _made("mul.Scalar", "int32", _arange(0, 8), -100), Range(-700, 0)),
    "a product that overflows": (lambda _: _made("mul.Scalar", "int32", _arange(0, 8), 2**30), ALL_INT32),
    "a product with what is cut off": (lambda _: _made("mul.Scalar", "int32", _arange(0, 8), 2**32 + 1), None),
    "clamped": (lambda given: _made("clamp", "int32", given.int32, 0, 9), Range(0, 9)),
    "clamped within": (lambda _: _made("clamp", "int32", _arange(0, 8), -5, 3), Range(0, 3)),
    "clamped from below": (lambda _: _made("clamp", "int32", _arange(0, 8), 20, 30), Range(20, 20)),
    "clamped the wrong way": (lambda given: _made("clamp", "int32", given.int32, 9, 0), None),
    "clamped to what is cut off": (lambda given: _made("clamp", "int32", given.int32, 0, 2**32), None),
    "clamped bytes": (lambda given: _made("clamp", "uint8", given.uint8, 0, 3), None),
    "shifted": (lambda _: _shifted(_arange(-3, 5), 1), Range(-2, 2)),
    "shifted by nothing": (lambda _: _shifted(_arange(0, 8), 0), Range(0, 7)),
    "shifted by all bits": (lambda _: _shifted(_arange(0, 8), 32), None),
    "shifted back": (lambda _: _shifted(_arange(0, 8), -1), None),
    "narrowed": (lambda _: _copied(_arange(0, 8), "int8", "int8"), Range(0, 7)),
    "narrowed, and cut off": (lambda given: _copied(given.int32, "int8", "int8"), ALL_INT8),
    "of another type than it says": (lambda given: _copied(given.int32, "int8", "int64"), None),
    "of floating point": (lambda given: _copied(given.float32, "int32", "int32"), None),
    "of truth values": (lambda given: _copied(given.bool, "int32", "int32"), None),
    "chosen": (lambda given: _chosen(_made("lt.Scalar", "bool", given.int32, 0)), Range(-16, 7)),
    "chosen by what is given": (lambda given: _chosen(given.bool), Range(-16, 7)),
    "chosen by both": (lambda given: _chosen(_made("logical_and", "bool", given.bool, given.bool)), Range(-16, 7)),
    "chosen by floating point": (lambda given: _chosen(_made("lt.Scalar", "bool", given.float32, 0)), None),
    "chosen by no truth value": (lambda given: _chosen(given.int32), None),
    "of no rule": (lambda _: _made("neg", "int32", _arange(0, 8)), None),
    "clamped, of no rule": (
        lambda given: _made("clamp", "int32", _made("floor_divide", "int32", given.int32, given.int32), 0, 9),
        None,
    ),
    "clamped, shifted by all bits": (lambda _: _made("clamp", "int32", _shifted(_arange(0, 8), 32), 0, 9), None),
}


def _asked(ask: Callable[[ir.Value], object], build: Callable[[_Given], ir.Value]) -> object:
    """What `ask` says of what `build` builds."""
    with make_context(), ir.Location.unknown():
        types = ", ".join(f"%{number}: {tensor_type([8], dtype)}" for number, dtype in enumerate(GIVEN.split()))
        module = ir.Module.parse(f"func.func @f({types}) {{ return }}")
        function_op = module.body.operations[0]
        with ir.InsertionPoint(function_op.body.blocks[0].operations[0]):
            return ask(build(_Given(*arguments(function_op))))


@pytest.mark.parametrize("name", CASES)
def test_range(name: str):
    """Would catch an index below 0, one that overflowed, and one that a clamp seems to hold, though LLVM may take any
    number for what was computed before it."""
    build, expected = CASES[name]
    assert _asked(range_of, build) == expected


@pytest.mark.parametrize(("by", "is_sound"), [(0, True), (7, True), (8, False), (-1, False)])
def test_shifts(by: int, is_sound: bool):
    """Would catch a shift by all bits, or by a negative number of them, whose result is any number."""
    assert _asked(lambda made: shifts_in_range(made.owner), lambda given: _shifted(given.int8, by, "int8")) is is_sound


def test_values_of_many_ways():
    """Would catch a search that goes each way to a value, of which there are 2 ** 2000, or a call for each step."""

    def build(_: _Given) -> ir.Value:
        value = _arange(0, 8)
        for _step in range(2000):
            value = _made("sub.Tensor", "int32", value, value, 1)
        return value

    assert _asked(range_of, build) == ALL_INT32
