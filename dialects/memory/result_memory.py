"""Where the results of a host function's ops lie: in an operand's memory, in memory of their own, or who knows.

Of an op of ATen's its row says it, of an op of ours this table: `roots` and `Buffers` both ask here.
"""

from torch_mlir import ir

from dovetail.dialects import dovetail as ours
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.dialects.torch_facts.ops import row
from dovetail.dialects.torch_facts.row import ResultMemory

_OURS = {
    LOAD: ResultMemory.OPERAND,
    ours.ReadOp.OPERATION_NAME: ResultMemory.OPERAND,
    ours.ViewOp.OPERATION_NAME: ResultMemory.OPERAND,
    ours.DetachOp.OPERATION_NAME: ResultMemory.OPERAND,
    ours.PartOp.OPERATION_NAME: ResultMemory.OPERAND,
    ours.AllocOp.OPERATION_NAME: ResultMemory.EXACT,
    ours.CopyOp.OPERATION_NAME: ResultMemory.EXACT,
    ours.DestinationOp.OPERATION_NAME: ResultMemory.TAKEN_OVER,
    ours.OwnOp.OPERATION_NAME: ResultMemory.TAKEN_OVER,
    ours.ReuseOp.OPERATION_NAME: ResultMemory.TAKEN_OVER,
}


def result_memory(op: ir.Operation) -> ResultMemory:
    """What memory the results of `op` are in, where a host function has it."""
    if op.name in _OURS:
        return _OURS[op.name]
    if control_flow_name(op):
        return ResultMemory.OWN  # of branches and loops, `backends.python.control_flow` copies what is shared
    return row(op).memory


def may_keep_operands(op: ir.Operation) -> bool:
    """Whether what `op` is given may be kept beyond the call: by a custom op, or by one in a branch or a loop."""
    return control_flow_name(op) is not None or result_memory(op) is ResultMemory.UNKNOWN
