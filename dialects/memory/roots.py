"""Whose memory a value lies in: one answer, for all who ask.

What an op's result lies in, `result_memory` says. Of values in regions it is said as if ATen ran them: what a kernel
computes is in memory of its own. Memory that is taken over is known by the result that took it, which is its root;
`Buffers` goes on to where its bytes come from.
"""

from collections.abc import Iterable, Iterator

from torch_mlir import ir

from dovetail.dialects.dovetail import DestinationOp, RefType, ReuseOp
from dovetail.dialects.memory.result_memory import result_memory
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import producer
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.row import ResultMemory
from dovetail.dialects.torch_facts.types import tensor_info

_NEW_VALUES = (DestinationOp.OPERATION_NAME, ReuseOp.OPERATION_NAME)
"""What lies in the memory that these take over is no longer what it held."""


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

    Views and reads lie in their operand's memory. Of what nobody knows, it is the result itself: see `may_show_old`.
    """
    for op in memory_path(value):
        value = op.operands[0]
    return value


def memory_roots(ops: Iterable[ir.Operation]) -> dict[ir.Value, ir.Value]:
    """The `memory_root` of each value that `ops`, all of a function in order, make in memory that is not fresh."""
    found: dict[ir.Value, ir.Value] = {}
    for op in ops:
        if shows_operand(op):
            found |= dict.fromkeys(op.results, found.get(op.operands[0], op.operands[0]))
    return found


def behind_views(value: ir.Value) -> ir.Operation | None:
    """The op that computes what `value` is, or is a view of by Torch's ops; None for an argument."""
    made = producer(value)
    while made is not None and kind(made) is Kind.VIEW:
        made = producer(made.operands[0])
    return made


def argument_number(value: ir.Value) -> int:
    """The number of the argument whose bytes `value` lies in, also where another result took them over."""
    while (made := producer(root := memory_root(value))) and result_memory(made) is ResultMemory.TAKEN_OVER:
        value = made.operands[0]
    return ir.BlockArgument(root).arg_number


def may_show_old(value: ir.Value) -> set[ir.Value]:
    """The arguments whose old value `value` may show in their memory, by any op that does not surely make its own."""

    def behind(each: ir.Value) -> Iterable[ir.Value]:
        op = producer(each)
        if op is None or op.name in _NEW_VALUES:
            return ()
        return () if result_memory(op) in (ResultMemory.OWN, ResultMemory.EXACT) else op.operands

    met = reachable([value], behind)
    return {value for value in met if isinstance(value.type, RefType) and isinstance(value.owner, ir.Block)}


def shows_operand(op: ir.Operation) -> bool:
    """Whether the results of `op` lie in its first operand's memory, or may where strides allow a view."""
    memory = result_memory(op) if len(op.operands) else ResultMemory.OWN
    return memory is ResultMemory.OPERAND or (memory is ResultMemory.BY_STRIDES and _keeps_dtype(op))


def _keeps_dtype(op: ir.Operation) -> bool:
    """Whether the result has the operand's elements; where it has others, the op converts and so copies."""
    given, made = tensor_info(op.operands[0].type), tensor_info(op.results[0].type)
    return given is None or made is None or given.dtype == made.dtype
