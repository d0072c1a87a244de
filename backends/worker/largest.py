"""How large indices may be in kernels of the LLVM dialect."""

import re

from iree.compiler import ir

from dovetail.backends.worker.walk import producer

_BITS = 32
WHOLE = 2**_BITS
"""Numbers that 32 bits tell apart."""
_RANGE = re.compile(r"#llvm\.constant_range<i\d+, (\d+), (\d+)>")
"""The bindings show no numbers of this attribute."""


def integer(value: ir.Value) -> int | None:
    """The whole number that `value` is; None where it is no constant."""
    op = producer(value)
    stated = op.attributes["value"] if op is not None and op.name == "llvm.mlir.constant" else None
    return stated.value if isinstance(stated, ir.IntegerAttr) else None


def largest(value: ir.Value) -> int | None:
    """The largest number that `value` may be, less than `WHOLE`, and so with and without a sign in 64 bits.

    None where it may be less than 0, or nothing is known. What a thread's and a workgroup's number may be, IREE states.
    """
    op = producer(value)
    if op is None:
        return None
    if op.name.startswith("nvvm.read.ptx.sreg."):
        stated = _RANGE.fullmatch(str(op.attributes["range"])) if "range" in op.attributes else None
        return _within(None if stated is None else int(stated[2]) - 1)
    if (number := integer(value)) is not None:
        return _within(number)
    if op.name in ("llvm.zext", "llvm.sext", "llvm.trunc"):
        most, narrow = largest(op.operands[0]), min(map(_width, (op.operands[0], op.results[0])))
        # A number that 32 bits hold without a sign becomes one less than 0 with it; narrower ones hold less.
        kept = WHOLE // 2 if op.name == "llvm.sext" else WHOLE
        return most if most is not None and most < kept and narrow >= _BITS else None
    if op.name in ("llvm.udiv", "llvm.urem"):
        return _divided(op)
    if op.name in ("llvm.add", "llvm.mul"):
        one, other = map(largest, op.operands)
        if one is None or other is None:
            return None
        return _within(one + other if op.name == "llvm.add" else one * other)
    return None


def _width(value: ir.Value) -> int:
    return ir.IntegerType(value.type).width


def _divided(op: ir.Operation) -> int | None:
    most, by = largest(op.operands[0]), integer(op.operands[1])
    if by is None or by <= 0:
        return None
    if op.name == "llvm.urem":
        return _within(by - 1)
    return None if most is None else most // by


def _within(number: int | None) -> int | None:
    return number if number is not None and 0 <= number < WHOLE else None
