"""Where the results of a host function's torch ops lie: in an operand's memory, in memory of their own, or who knows.

As `dialects.torch_facts.ops`, a table of PyTorch's facts that needs no torch;
test/dialects/torch_facts/test_result_memory.py runs the ops to hold it against them.
"""

from enum import Enum

from torch_mlir import ir

from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.torch_facts.ops import NAMESPACES, Kind, aten_name, kind


class ResultMemory(Enum):
    """What memory an op's results are in."""

    OPERAND = "operand"  # the first operand's, whatever its strides
    BY_STRIDES = "by strides"  # the first operand's, or a copy where its strides allow no view
    OWN = "own"  # fresh memory
    EXACT = "exact"  # fresh memory that starts with the result and ends with it
    UNKNOWN = "unknown"  # perhaps an operand's; and the op may keep what it was given


# The emitter makes sizes fit by `reshape`; the last three return what needs no conversion.
_BY_STRIDES = frozenset("view reshape _unsafe_view _reshape_alias view_as as_strided contiguous to".split())
_BY_STRIDES |= {"convert_element_type"}
ROW_MAJOR = frozenset("addmm baddbmm bmm mm".split())
"""Of `EXACT`, those whose result is contiguous, whatever the operands' strides."""
EXACT = ROW_MAJOR | frozenset("addmv convolution dot embedding gather index mv vdot".split())
"""Library kernels that allocate just their result."""

_FRESH_KINDS = (Kind.POINTWISE, Kind.REDUCTION, Kind.MOVEMENT, Kind.CREATION, Kind.LIBRARY)


def result_memory(op: ir.Operation) -> ResultMemory:
    """What memory the results of a torch op are in that a host function calls."""
    if control_flow_name(op):
        return ResultMemory.OWN  # of branches and loops, `backends.python.control_flow` copies what is shared
    name, what = base_name(op), kind(op)
    if name in _BY_STRIDES:
        return ResultMemory.BY_STRIDES
    if what is Kind.VIEW:
        return ResultMemory.OPERAND
    if name in EXACT:
        return ResultMemory.EXACT
    return ResultMemory.OWN if what in _FRESH_KINDS else ResultMemory.UNKNOWN


def may_keep_operands(op: ir.Operation) -> bool:
    """Whether what `op` is given may be kept beyond the call: by a custom op, or by one in a branch or a loop."""
    return control_flow_name(op) is not None or result_memory(op) is ResultMemory.UNKNOWN


def base_name(op: ir.Operation) -> str:
    """The op's name without namespace and overload, empty for one that is not ATen's or the like."""
    name = aten_name(op)
    return "" if name is None or name.split(".")[0] not in NAMESPACES else name.split(".")[1]
