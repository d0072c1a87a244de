"""Elementary functions of float32 by NVIDIA's library, in two steps; of half precision too, or by approximations.

In loops, where a function would be expanded, it becomes a remainder by a number that stands for it, which becomes a
vector as any arithmetic does and is lowered to a call of the library. In the LLVM dialect these calls become those of
the function meant, or what approximates it. The library's functions are those of CUDA's own compiler, and so eager's.
"""

import struct

from iree.compiler import ir

from dovetail.backends.worker.approximations import APPROXIMATIONS, approximation
from dovetail.backends.worker.walk import create, replace, walk

# By MLIR's op: a number of float32 that stands for it, and the library's name.
_FUNCTIONS = {
    "math.exp": (1.2345671e30, "__nv_expf"),
    "math.tanh": (1.2345672e30, "__nv_tanhf"),
    "math.erf": (1.2345673e30, "__nv_erff"),
    "math.log": (1.2345674e30, "__nv_logf"),
    "math.log1p": (1.2345676e30, "__nv_log1pf"),
    "math.expm1": (1.2345677e30, "__nv_expm1f"),
    "math.sin": (1.2345678e30, "__nv_sinf"),
    "math.cos": (1.2345679e30, "__nv_cosf"),
}
REMAINDER = "__nv_fmodf"
MARKED = "remainders_are_functions"
"""Of a kernel: an attribute that IREE keeps."""


def _stored(number: float) -> float:
    """`number` as float32 holds it."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


MEANT = {_stored(number): name for number, name in _FUNCTIONS.values()}
"""The library's function by the number that stands for it."""
APPROXIMATED = {_stored(each.number): each for each in APPROXIMATIONS}
"""What is approximated, likewise."""


def mark(kernel: ir.Operation) -> None:
    """Has the loops of `kernel` say functions by numbers; one that takes remainders itself keeps IREE's functions.

    The kernel says that all of its remainders stand for functions then, also in the LLVM dialect.
    """
    if any(op.name == "arith.remf" for op in walk(kernel)):
        return
    kernel.attributes[MARKED] = ir.UnitAttr.get()
    for op, (approximated, operand) in [(op, found) for op in walk(kernel) if (found := approximation(op))]:
        replace(op, _marked(op, operand, approximated.number))
    for op in list(walk(kernel)):
        if op.name in _FUNCTIONS and isinstance(op.results[0].type, ir.F32Type | ir.F16Type | ir.BF16Type):
            replace(op, _marked(op, op.operands[0], _FUNCTIONS[op.name][0]))


def _marked(op: ir.Operation, operand: ir.Value, number: float) -> ir.Value:
    """What stands, before `op`, for a function of `operand`, computed in float32."""
    f32, type_ = ir.F32Type.get(), op.results[0].type
    with op.location, ir.InsertionPoint(op):
        stands = create("arith.constant", f32, value=ir.FloatAttr.get(f32, number))
        wide = operand if operand.type == f32 else create("arith.extf", f32, operand)
        marked = create("arith.remf", f32, wide, stands)
        return marked if type_ == f32 else create("arith.truncf", type_, marked)
