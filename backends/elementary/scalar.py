"""Scalars of the code that is being built: Python's operators make ops of the dialects `arith` and `math`."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, math


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

    def _other(self, other: "Scalar | float") -> ir.Value:
        return (other if isinstance(other, Scalar) else self.constant(other)).value

    def __add__(self, other: "Scalar | float") -> "Scalar":
        return Scalar(arith.AddFOp(self.value, self._other(other)).result)

    def __radd__(self, other: float) -> "Scalar":
        return self.constant(other) + self

    def __sub__(self, other: "Scalar | float") -> "Scalar":
        return Scalar(arith.SubFOp(self.value, self._other(other)).result)

    def __rsub__(self, other: float) -> "Scalar":
        return self.constant(other) - self

    def __mul__(self, other: "Scalar | float") -> "Scalar":
        return Scalar(arith.MulFOp(self.value, self._other(other)).result)

    def __rmul__(self, other: float) -> "Scalar":
        return self * other

    def __truediv__(self, other: "Scalar | float") -> "Scalar":
        return Scalar(arith.DivFOp(self.value, self._other(other)).result)

    def __rtruediv__(self, other: float) -> "Scalar":
        return self.constant(other) / self

    def __neg__(self) -> "Scalar":
        return Scalar(arith.NegFOp(self.value).result)

    def __abs__(self) -> "Scalar":
        return Scalar(math.AbsFOp(self.value).result)

    def floor(self) -> "Scalar":
        return Scalar(math.FloorOp(self.value).result)

    def with_sign_of(self, other: "Scalar") -> "Scalar":
        return Scalar(math.CopySignOp(self.value, other.value).result)

    def root(self) -> "Scalar":
        return Scalar(math.SqrtOp(self.value).result)

    def __lt__(self, other: "Scalar | float") -> "Scalar":
        return self._compared(arith.CmpFPredicate.OLT, other)

    def __gt__(self, other: "Scalar | float") -> "Scalar":
        return self._compared(arith.CmpFPredicate.OGT, other)

    def equals(self, other: "Scalar | float") -> "Scalar":
        return self._compared(arith.CmpFPredicate.OEQ, other)

    def _compared(self, how: arith.CmpFPredicate, other: "Scalar | float") -> "Scalar":
        return Scalar(arith.CmpFOp(how, self.value, self._other(other)).result)

    def if_true(self, then: "Scalar", otherwise: "Scalar | float") -> "Scalar":
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

    def converted(self) -> "Scalar":
        """The float32 number nearest to a 32-bit integer."""
        return Scalar(arith.SIToFPOp(ir.F32Type.get(), self.value).result)

    def plus(self, other: "Scalar | int") -> "Scalar":
        return Scalar(arith.AddIOp(self.value, self._other(other)).result)

    def minus(self, other: "Scalar | int") -> "Scalar":
        return Scalar(arith.SubIOp(self.value, self._other(other)).result)

    def at_most(self, other: int) -> "Scalar":
        return Scalar(arith.MinSIOp(self.value, self._other(other)).result)

    def masked(self, other: int) -> "Scalar":
        return Scalar(arith.AndIOp(self.value, self._other(other)).result)

    def flipped(self, other: "Scalar") -> "Scalar":
        return Scalar(arith.XOrIOp(self.value, other.value).result)

    def left(self, by: int) -> "Scalar":
        return Scalar(arith.ShLIOp(self.value, self._other(by)).result)

    def right(self, by: int) -> "Scalar":
        """Shifted with its sign."""
        return Scalar(arith.ShRSIOp(self.value, self._other(by)).result)

    def is_zero(self) -> "Scalar":
        return Scalar(arith.CmpIOp(arith.CmpIPredicate.eq, self.value, self._other(0)).result)

    def low_half(self) -> "Scalar":
        """The lower 32 bits of a 64-bit integer."""
        return Scalar(arith.TruncIOp(ir.IntegerType.get_signless(32), self.value).result)

    def double(self) -> "Scalar":
        return Scalar(arith.ExtFOp(ir.F64Type.get(), self.value).result)

    def single(self) -> "Scalar":
        return Scalar(arith.TruncFOp(ir.F32Type.get(), self.value).result)


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
