"""Scalars of the code that is being built: Python's operators make ops of the dialects `arith` and `math`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Union

from torch_mlir import ir
from torch_mlir.dialects import arith, math

Operand = Union["Scalar", float]


def _of_one(operation: Callable) -> Callable[["Scalar"], "Scalar"]:
    return lambda self: Scalar(operation(self.value).result)


def _of_two(operation: Callable) -> Callable[["Scalar", Operand], "Scalar"]:
    return lambda self, other: Scalar(operation(self.value, self._other(other)).result)


def _turned(operation: Callable) -> Callable[["Scalar", float], "Scalar"]:
    """Of a number and a scalar."""
    return lambda self, number: Scalar(operation(self._other(number), self.value).result)


@dataclass(frozen=True)
class Scalar:
    """A value of type f32, f64, i32, i64 or i1, for which operators build ops where the context's insertion point is.

    Numbers among the operands become constants of the scalar's type. The code generator may fuse a product and a sum,
    so what is right must be so with two roundings and with one.
    """

    value: ir.Value

    @property
    def type(self) -> ir.Type:
        return self.value.type

    def constant(self, number: float) -> "Scalar":
        """`number` in this scalar's type; of an integer type, all of its bits."""
        is_float = isinstance(self.type, ir.F32Type | ir.F64Type)
        attribute = (ir.FloatAttr if is_float else ir.IntegerAttr).get(self.type, number)
        return Scalar(arith.ConstantOp(self.type, attribute).result)

    def _other(self, other: Operand) -> ir.Value:
        return (other if isinstance(other, Scalar) else self.constant(other)).value

    # Of floating-point numbers.
    __add__, __radd__ = _of_two(arith.AddFOp), _turned(arith.AddFOp)
    __sub__, __rsub__ = _of_two(arith.SubFOp), _turned(arith.SubFOp)
    __mul__ = __rmul__ = _of_two(arith.MulFOp)
    __truediv__, __rtruediv__ = _of_two(arith.DivFOp), _turned(arith.DivFOp)
    __neg__, __abs__ = _of_one(arith.NegFOp), _of_one(math.AbsFOp)
    floor, root = _of_one(math.FloorOp), _of_one(math.SqrtOp)
    with_sign_of = _of_two(math.CopySignOp)
    __lt__ = _of_two(partial(arith.CmpFOp, arith.CmpFPredicate.OLT))
    __gt__ = _of_two(partial(arith.CmpFOp, arith.CmpFPredicate.OGT))
    equals = _of_two(partial(arith.CmpFOp, arith.CmpFPredicate.OEQ))

    # Of integers; `right` shifts with the sign.
    plus, minus, at_most = _of_two(arith.AddIOp), _of_two(arith.SubIOp), _of_two(arith.MinSIOp)
    masked, flipped = _of_two(arith.AndIOp), _of_two(arith.XOrIOp)
    left, right = _of_two(arith.ShLIOp), _of_two(arith.ShRSIOp)

    def is_zero(self) -> "Scalar":
        return Scalar(arith.CmpIOp(arith.CmpIPredicate.eq, self.value, self._other(0)).result)

    def if_true(self, then: "Scalar", otherwise: Operand) -> "Scalar":
        """Of a truth value: the one or the other, both computed."""
        return Scalar(arith.SelectOp(self.value, then.value, then._other(otherwise)).result)

    @property
    def bits(self) -> "Scalar":
        """The bits of a floating-point number, as an integer of its size."""
        width = 32 if isinstance(self.type, ir.F32Type) else 64
        return Scalar(arith.BitcastOp(ir.IntegerType.get_signless(width), self.value).result)

    def as_float(self) -> "Scalar":
        """The floating-point number that an integer's bits are."""
        single = ir.IntegerType(self.type).width == 32
        return Scalar(arith.BitcastOp((ir.F32Type if single else ir.F64Type).get(), self.value).result)

    # Conversions: to the other size, of a 32-bit integer to float32, and the lower 32 bits of a 64-bit one.
    double = _of_one(lambda value: arith.ExtFOp(ir.F64Type.get(), value))
    single = _of_one(lambda value: arith.TruncFOp(ir.F32Type.get(), value))
    converted = _of_one(lambda value: arith.SIToFPOp(ir.F32Type.get(), value))
    low_half = _of_one(lambda value: arith.TruncIOp(ir.IntegerType.get_signless(32), value))


def polynomial(x: Scalar, coefficients: Sequence[float]) -> Scalar:
    """Horner's scheme; the constant term comes first."""
    *rest, last = coefficients
    value = x.constant(last)
    for coefficient in reversed(rest):
        value = value * x + coefficient
    return value


def exact_sum(larger: Scalar, smaller: Scalar) -> tuple[Scalar, Scalar]:
    """The rounded sum and its error (T. J. Dekker, 1971), if `larger` is the larger one or zero."""
    total = larger + smaller
    return total, smaller - (total - larger)
