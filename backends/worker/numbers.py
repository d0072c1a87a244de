"""Reads the numbers of a host program: written out, or computed from the sizes of arguments."""

import re
from typing import Any

from iree.compiler import ir

from dovetail.backends.worker.host_ops import Unreadable, number
from dovetail.backends.worker.walk import producer

# How numbers follow from sizes. Each takes and gives whole numbers, in 64 bits with their sign; none wraps around.
_ARITHMETIC = ("addi", "subi", "muli", "divsi", "remsi", "maxsi", "minsi", "shrui", "cmpi", "select")
_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge")
_CASTS = ("arith.index_cast", "arith.index_castui", "arith.trunci")
NUMBERS = frozenset(
    ("hal.buffer_view.dim", "util.assume.int", "util.align", *_CASTS, *(f"arith.{each}" for each in _ARITHMETIC))
)
"""The ops by which numbers follow from sizes."""
_WHOLE = ("index", "i64", "i1")


class Numbers:
    """Reads the numbers of a plan: each is an integer, or "%2", the second of `values`, an op and its operands."""

    def __init__(self, positions: dict[ir.Value, int]):
        self.positions = positions
        self.values: list[list[int | str]] = []
        self._read: dict[ir.Value, int | str] = {}

    def read(self, value: ir.Value) -> int | str:
        """What `value` is; of a number cut to 32 bits, the number."""
        if value not in self._read:
            self._read[value] = self._number(value)
        return self._read[value]

    def word(self, value: ir.Value) -> int | str:
        """A 32-bit number that a launch takes; of one that is a value it takes the low bits."""
        if str(value.type) != "i32":
            raise Unreadable(f"a launch takes a constant of type {value.type}")
        read = self.read(value)
        return read if isinstance(read, str) else read & 0xFFFFFFFF

    def _number(self, value: ir.Value) -> int | str:
        if isinstance(value.owner, ir.Block):
            return self._value("number", self.positions[value])
        op = value.owner
        if op.name == "arith.constant":
            return number(value)
        if op.name == "hal.buffer_view.dim":
            return self._value("size", self.positions[op.operands[0]], ir.IntegerAttr(op.attributes["index"]).value)
        if op.name == "util.assume.int":
            return self._assumed(op, list(op.results).index(value))
        if op.name in _CASTS and str(op.operands[0].type) in _WHOLE:
            return self.read(op.operands[0])
        if str(value.type) not in _WHOLE:
            raise Unreadable(f"it computes with numbers of type {value.type}")
        return self._computed(op)

    def _computed(self, op: ir.Operation) -> int | str:
        rounded_up = _rounded_up(op)
        if rounded_up is not None:
            return self._value("ceildivsi", *map(self.read, rounded_up))
        operands = list(map(self.read, op.operands))
        if op.name == "util.align":
            return self._value("muli", self._value("ceildivsi", *operands), operands[1])
        if op.name == "arith.remsi":
            whole = self._value("muli", self._value("divsi", *operands), operands[1])
            return self._value("subi", operands[0], whole)
        if op.name == "arith.cmpi":
            return self._value("cmpi", _predicate(op), *operands)
        return self._value(op.name.removeprefix("arith."), *operands)

    def _assumed(self, op: ir.Operation, position: int) -> int | str:
        """A number that the code was made for some of; the plan refuses others."""
        read = self.read(op.operands[position])
        self._value("check_range", read, *_assumption(op, position))
        return read

    def _value(self, *form: int | str) -> str:
        """The value of this form, which may be there."""
        if [*form] not in self.values:
            self.values.append([*form])
        return f"%{self.values.index([*form])}"


def _assumption(op: ir.Operation, position: int) -> tuple[int, int]:
    """The least and the largest that an operand of `util.assume.int` may be."""
    text = str(op.attributes["assumptions"][position])
    form = re.fullmatch(r"\[#util\.int\.assumption<umin = (\d+), umax = (\d+)>\]", text)
    if form is None:
        raise Unreadable(f"its code assumes of a number what nothing is known of: {text}")
    least, most = (int(each) - (int(each) >> 63 << 64) for each in form.groups())  # written without their signs
    if least > most:
        raise Unreadable(f"its code assumes of a number what none is: {text}")
    return least, most


def _predicate(op: ir.Operation) -> str:
    position = ir.IntegerAttr(op.attributes["predicate"]).value
    if position >= len(_PREDICATES):
        raise Unreadable("it compares numbers without their signs")
    return _PREDICATES[position]


def _rounded_up(op: ir.Operation) -> tuple[ir.Value, ir.Value] | None:
    """`n` and `by` where `op` is n / by, rounded up: -((0 - n) / by) where n is not positive, else (n - 1) / by + 1."""
    try:
        condition, negative, positive = _operands(op, "select")
        divided, _ = _operands(condition.owner, "cmpi", second=0)
        (quotient, _), (_, again) = (
            _operands(positive.owner, "addi", second=1),
            _operands(negative.owner, "subi", first=0),
        )
        dividend, by = _operands(quotient.owner, "divsi")
        same, opposite, less = _operands(dividend.owner, "select")
        is_it = (
            _predicate(condition.owner) == "sle"
            and (same, again) == (condition, quotient)
            and _operands(opposite.owner, "subi", first=0)[1] == divided
            and _operands(less.owner, "subi", second=1)[0] == divided
        )
    except _OtherForm:
        return None
    return (divided, by) if is_it else None


class _OtherForm(Exception):
    """An op is not of the form that was looked for."""


def _operands(op: Any, name: str, first: int | None = None, second: int | None = None) -> list[ir.Value]:
    """The operands of `arith.<name>`, where the first or the second may have to be a constant."""
    if isinstance(op, ir.Block) or op.name != f"arith.{name}":
        raise _OtherForm
    operands = list(op.operands)
    for operand, expected in zip(operands, (first, second), strict=False):
        made = producer(operand)
        is_constant = made is not None and made.name == "arith.constant"
        if expected is not None and not (is_constant and number(operand) == expected):
            raise _OtherForm
    return operands
