"""Reads the numbers of a host program: written out, or computed from the sizes of arguments."""

import re
from itertools import repeat

from iree.compiler import ir

from dovetail.backends.worker.host_ops import Unreadable, number
from dovetail.backends.worker.walk import producer

# How numbers follow from sizes. Each takes and gives whole numbers, in 64 bits with their sign; none wraps around.
_ARITHMETIC = ("addi", "subi", "muli", "divsi", "remsi", "maxsi", "minsi", "shrui", "cmpi", "select")
_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge")
_CASTS = ("arith.index_cast", "arith.index_castui", "arith.trunci")
NUMBERS = frozenset(
    ("hal.buffer_view.dim", "util.assume.int", "util.align", *_CASTS, *(f"arith.{name}" for name in _ARITHMETIC))
)
"""The ops by which numbers follow from sizes."""
_WHOLE = ("index", "i64", "i1")

Form = str | int | tuple
"""A number, a name for what is the same wherever it stands, or an op of `arith`, or a predicate, and its operands."""

# n / by, rounded up.
_IS_LESS = ("sle", "n", 0)
_QUOTIENT = ("divsi", ("select", _IS_LESS, ("subi", 0, "n"), ("subi", "n", 1)), "by")
_ROUNDED_UP = ("select", _IS_LESS, ("subi", 0, _QUOTIENT), ("addi", _QUOTIENT, 1))


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
        if op.name == "util.assume.int":  # a number that the code was made for some of; the plan refuses others
            position = list(op.results).index(value)
            read = self.read(op.operands[position])
            self._value("check_range", read, *_assumption(op, position))
            return read
        if op.name in _CASTS and str(op.operands[0].type) in _WHOLE:
            return self.read(op.operands[0])
        if str(value.type) not in _WHOLE:
            raise Unreadable(f"it computes with numbers of type {value.type}")
        return self._computed(op)

    def _computed(self, op: ir.Operation) -> int | str:
        found: dict[str, ir.Value] = {}
        if _is(op.results[0], _ROUNDED_UP, found):
            return self._value("ceildivsi", self.read(found["n"]), self.read(found["by"]))
        operands = list(map(self.read, op.operands))
        if op.name == "util.align":
            return self._value("muli", self._value("ceildivsi", *operands), operands[1])
        if op.name == "arith.remsi":
            whole = self._value("muli", self._value("divsi", *operands), operands[1])
            return self._value("subi", operands[0], whole)
        if op.name == "arith.cmpi":
            return self._value("cmpi", _predicate(op), *operands)
        return self._value(op.name.removeprefix("arith."), *operands)

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


def _is(value: ir.Value, form: Form, found: dict[str, ir.Value]) -> bool:
    """Whether `value` is of `form`; adds what its names are to `found`."""
    if isinstance(form, str):
        return found.setdefault(form, value) == value
    op = producer(value)
    if op is None or isinstance(form, int):
        return op is not None and op.name == "arith.constant" and number(value) == form
    name, *operands = form
    said = _predicate(op) if op.name == "arith.cmpi" else op.name.removeprefix("arith.")
    return said == name and all(map(_is, op.operands, operands, repeat(found)))
