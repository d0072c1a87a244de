"""Where the results of a host function's ops lie: in an operand's memory, in memory of their own, or who knows."""

from torch_mlir import ir

from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.torch_facts.ops import row
from dovetail.dialects.torch_facts.row import ResultMemory


def result_memory(op: ir.Operation) -> ResultMemory:
    """What memory the results of a torch op are in that a host function calls."""
    if control_flow_name(op):
        return ResultMemory.OWN  # of branches and loops, `backends.python.control_flow` copies what is shared
    return row(op).memory


def may_keep_operands(op: ir.Operation) -> bool:
    """Whether what `op` is given may be kept beyond the call: by a custom op, or by one in a branch or a loop."""
    return control_flow_name(op) is not None or result_memory(op) is ResultMemory.UNKNOWN
