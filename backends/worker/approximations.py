"""Functions of half precision by the GPU's own approximations, a few instructions each where the library's take dozens.

Only where the result is rounded to half precision at once, of whose last place the error is about an eighth: the
`tanh` of float16, which has three bits more than bfloat16, is the library's. And where the text says so, of softmaxes
that are rounded later (`backends/elementary/half_softmax.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass

from iree.compiler import ir

from dovetail.backends.worker.walk import create, producer

_LOG2_E = 1.44269504
_HALVES = (ir.BF16Type, ir.F16Type)


@dataclass(frozen=True)
class Approximation:
    """`build` computes it of a number of float32, in the LLVM dialect; until then, `number` stands for it."""

    number: float
    build: Callable[[ir.Value], ir.Value]


def _instruction(name: str, x: ir.Value) -> ir.Value:
    stated = {"asm_string": f"{name} $0, $1;", "constraints": "=f,f"}
    return create("llvm.inline_asm", x.type, x, **{key: ir.StringAttr.get(value) for key, value in stated.items()})


def _op(name: str, *operands: ir.Value) -> ir.Value:
    return create(name, operands[0].type, *operands)


def _constant(value: float) -> ir.Value:
    f32 = ir.F32Type.get()
    return create("llvm.mlir.constant", f32, value=ir.FloatAttr.get(f32, value))


def _tanh(x: ir.Value) -> ir.Value:
    """About 2^-11 of the result: an eighth of the last place of bfloat16."""
    return _instruction("tanh.approx.f32", x)


def _exp(x: ir.Value) -> ir.Value:
    """2^-17 of the result, as far as the exponent is rounded; subnormal numbers are computed, too."""
    return _instruction("ex2.approx.f32", _op("llvm.fmul", x, _constant(_LOG2_E)))


def _exp2(x: ir.Value) -> ir.Value:
    """2^-22 of the result; 0 where that would be subnormal."""
    return _instruction("ex2.approx.ftz.f32", x)


def _sigmoid(x: ir.Value) -> ir.Value:
    """A quarter of 1 / ((1 + exp(-x)) / 4), whose terms stay where nothing is to be scaled: 2^-17 of the result."""
    power = _instruction("ex2.approx.ftz.f32", _op("llvm.intr.fma", x, _constant(-_LOG2_E), _constant(-2.0)))
    quotient = _instruction("rcp.approx.ftz.f32", _op("llvm.fadd", power, _constant(0.25)))
    return _op("llvm.fmul", quotient, _constant(0.25))


TANH = Approximation(1.2345681e30, _tanh)
EXP = Approximation(1.2345682e30, _exp)
SIGMOID = Approximation(1.2345683e30, _sigmoid)
EXP2 = Approximation(1.2345684e30, _exp2)
APPROXIMATIONS = (TANH, EXP, SIGMOID, EXP2)


def approximation(op: ir.Operation) -> tuple[Approximation, ir.Value] | None:
    """What computes `op`, and of which number; None where nothing here does."""
    type_ = op.results[0].type if len(op.results) == 1 else None
    if op.name == "math.tanh" and isinstance(type_, ir.BF16Type):
        return TANH, op.operands[0]
    if op.name == "math.exp" and isinstance(type_, _HALVES):
        return EXP, op.operands[0]
    if op.name == "math.exp2" and _may_be_approximated(op):
        return EXP2, op.operands[0]
    argument = _argument_of_sigmoid(op) if op.name == "arith.truncf" and isinstance(type_, _HALVES) else None
    return None if argument is None else (SIGMOID, argument)


def _may_be_approximated(op: ir.Operation) -> bool:
    return "afn" in str(op.attributes["fastmath"]) if "fastmath" in op.attributes else False


def _argument_of_sigmoid(op: ir.Operation) -> ir.Value | None:
    """`x` of half precision where `op` rounds `1 / (1 + exp(-x))`, of which nothing else takes a part."""
    quotient = _sole(op.operands[0], "arith.divf")
    total = quotient and _is_one(quotient.operands[0]) and _sole(quotient.operands[1], "arith.addf")
    power = total and _is_one(total.operands[1]) and _sole(total.operands[0], "math.exp")
    negated = power and _sole(power.operands[0], "arith.negf")
    wide = negated and producer(negated.operands[0])
    is_half = wide and wide.name == "arith.extf" and isinstance(wide.operands[0].type, _HALVES)
    return wide.operands[0] if wide and is_half else None


def _sole(value: ir.Value, name: str) -> ir.Operation | None:
    """What computes `value`, if that is called `name` and one op takes it."""
    made = producer(value)
    return made if made is not None and made.name == name and len(list(value.uses)) == 1 else None


def _is_one(value: ir.Value) -> bool:
    made = producer(value)
    stated = made.attributes["value"] if made is not None and made.name == "arith.constant" else None
    return isinstance(stated, ir.FloatAttr) and stated.value == 1
