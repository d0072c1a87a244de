"""Pass `issue-late`: on a GPU, what a forward computes of little memory is issued where it is needed first."""

from functools import reduce

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.memory.roots import is_view, memory_root
from dovetail.dialects.reading import Module, Role, body, made_by, producer, users
from dovetail.dialects.sizes.expected import expected_bytes
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.row import IN_REGIONS
from dovetail.dialects.torch_facts.types import shaped_info
from dovetail.passes.base import Pass

_LITTLE = 1 << 20
"""Bytes, which a GPU reads or writes in less time than its host takes to issue that."""


class IssueLatePass(Pass, name="issue-late", runs_at="program"):
    """Moves views, and calls of little memory or of arguments alone, to the first op of `@forward` that uses them.

    A GPU waits for its first long kernel while the host issues what stands before it: masks, tables and positions that
    only a later op takes, copies and views of parameters. Behind that kernel they cost nothing. Nothing is moved across
    an op that keeps its order, and no call that takes what is large and computed here, whose memory would live longer.

    Before:  `%0 = torch.operator "torch.aten.cumsum"(%mask); %1 = torch.operator "torch.aten.mm"(%a, %b); use %0, %1`
    After:   `%1 = torch.operator "torch.aten.mm"(%a, %b); %0 = torch.operator "torch.aten.cumsum"(%mask); use %0, %1`
    """

    def run(self, module: ir.Module) -> bool:
        if device_type(module) == "cpu":
            return False
        found, is_changed = Module(module), False
        for function_op in found.of(Role.FORWARD).values():
            is_changed |= _issue_late(found, body(function_op))
        return is_changed


def _issue_late(found: Module, ops: list[ir.Operation]) -> bool:
    """Goes backward, so that users have their places by then."""
    is_changed, barrier = False, ops[-1]
    large = barrier  # the next call of much, behind which others are moved
    for op in reversed(ops[:-1]):
        if is_view(op) or op.name == LIST or _is_little(found, op):
            first = reduce(_earlier, users(*op.results), barrier)
            if first != large and large.is_before_in_block(first):
                op.move_before(first)
                is_changed = True
        elif is_extern(op) or op.name == func.CallOp.OPERATION_NAME:
            large = op
            barrier = op if kind(op) is Kind.UNKNOWN and is_extern(op) else barrier
    return is_changed


def _earlier(one: ir.Operation, other: ir.Operation) -> ir.Operation:
    return one if one.is_before_in_block(other) else other


def _is_little(found: Module, op: ir.Operation) -> bool:
    """Whether `op` is a region's call, or one that a region could have computed, and keeps nothing large alive.

    What is made of arguments alone does so where it stands, not where it is needed.
    """
    if not (op.name == func.CallOp.OPERATION_NAME and found.region(op)) and not (
        is_extern(op) and kind(op) in IN_REGIONS
    ):
        return False
    taken = [value for operand in op.operands for value in _tensors(operand) if not _is_given(value)]
    return not taken or all(expected_bytes([memory_root(value)]) <= _LITTLE for value in (*taken, *op.results))


def _is_given(value: ir.Value) -> bool:
    """Whether it is memory of the caller's, which lives as long as the function runs."""
    return producer(memory_root(value)) is None


def _tensors(operand: ir.Value) -> list[ir.Value]:
    """The tensor that it is, or those in a list."""
    listed = made_by(operand, LIST)
    return [value for value in (listed.operands if listed else [operand]) if shaped_info(value.type)]
