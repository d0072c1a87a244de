"""Whose memory a value lies in: one answer, for all who ask.

What an op's result lies in, its row says (`result_memory`), or the meaning of an op of ours. Of values in regions it is
said as if ATen ran them: what a kernel computes is in memory of its own.
"""

from collections.abc import Iterable, Iterator

from torch_mlir import ir

from dovetail.dialects.dovetail import RefType
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import producer
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.dialects.torch_facts.ops import Kind, row
from dovetail.dialects.torch_facts.result_memory import result_memory
from dovetail.dialects.torch_facts.row import ResultMemory
from dovetail.dialects.torch_facts.types import tensor_info

_ALIASES = ("dovetail.read", "dovetail.view", "dovetail.detach", "dovetail.part")
_FRESH = ("dovetail.alloc", "dovetail.copy", "dovetail.destination", "dovetail.reuse", LOAD)


def is_view(op: ir.Operation) -> bool:
    """Whether a torch op does no work: its result shows its first operand's memory."""
    facts = row(op)
    return facts.kind is Kind.VIEW or facts.memory is ResultMemory.OPERAND


def memory_path(value: ir.Value) -> Iterator[ir.Operation]:
    """The ops through which `value` shows the memory of its root, from the last one to the first."""
    while not isinstance(owner := value.owner, ir.Block) and shows_operand(owner.operation):
        yield owner.operation
        value = owner.operation.operands[0]


def memory_root(value: ir.Value) -> ir.Value:
    """The value whose memory `value` lies in, or may lie in where strides allow a view; itself, if it is fresh.

    Views and reads lie in their operand's memory. Of what nobody knows, it is the result itself: see `may_share`.
    """
    for op in memory_path(value):
        value = op.operands[0]
    return value


def may_share(value: ir.Value) -> set[ir.Value]:
    """The arguments of the function in whose memory `value` may lie, by any op that does not surely make its own."""

    def behind(each: ir.Value) -> Iterable[ir.Value]:
        op = producer(each)
        if op is None or op.name in _FRESH:
            return ()
        is_own = op.name.startswith("torch.") and result_memory(op) in (ResultMemory.OWN, ResultMemory.EXACT)
        return () if is_own else op.operands

    met = reachable([value], behind)
    return {value for value in met if isinstance(value.type, RefType) and isinstance(value.owner, ir.Block)}


def shows_operand(op: ir.Operation) -> bool:
    """Whether the results of `op` lie in its first operand's memory, or may where strides allow a view."""
    if op.name in _ALIASES:
        return True
    if not op.name.startswith("torch.") or not len(op.operands):
        return False
    memory = result_memory(op)
    return memory is ResultMemory.OPERAND or (memory is ResultMemory.BY_STRIDES and _keeps_dtype(op))


def _keeps_dtype(op: ir.Operation) -> bool:
    """Whether the result has the operand's elements; where it has others, the op converts and so copies."""
    given, made = tensor_info(op.operands[0].type), tensor_info(op.results[0].type)
    return given is None or made is None or given.dtype == made.dtype
