"""Ops that give equal values, of which one is left."""

from collections.abc import Callable, Sequence

from torch_mlir import ir

from dovetail.dialects.attributes import RECOMPUTE
from dovetail.dialects.building.cloning import attributes_key
from dovetail.dialects.statements.recompute import RECOMPUTED_POLICIES, SAVED_POLICIES, recompute_policy
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.numbers import number
from dovetail.dialects.torch_facts.ops import row
from dovetail.dialects.torch_facts.types import tensor_info

CONSTANT = "torch.constant."
"""How the names of constants begin: more than half of all ops, before they are merged."""


def merge_equal(ops: Sequence[ir.Operation], may_merge: Callable[[ir.Operation], bool]) -> list[ir.Operation]:
    """Leaves the first of those among `ops`, which stand in this order, that give equal values and may be merged.

    What the user's checkpointing says of one op, it says of both: saved, if it says so of either.

    Returns:
        Those of `ops` that are left.
    """
    seen: dict[tuple, ir.Operation] = {}
    kept = []
    for op in ops:
        first = seen.setdefault(_key(op), op) if may_merge(op) else op
        if first is op:
            kept.append(op)
            continue
        for old, new in zip(op.results, first.results, strict=True):
            old.replace_all_uses_with(new)
        if not op.name.startswith(CONSTANT):
            _join_policies(first, op)
        op.erase()
    return kept


def merge_constants(ops: Sequence[ir.Operation]) -> None:
    """Leaves one of equal constants, and of equal lists, among `ops`, which stand in this order.

    What is built for each op anew is otherwise most of what later passes walk over.
    """
    merge_equal(ops, lambda op: op.name == LIST or op.name.startswith(CONSTANT))


def _join_policies(first: ir.Operation, other: ir.Operation) -> None:
    stated = [policy for op in (first, other) if (policy := recompute_policy(op)) is not None]
    if stated:
        chosen = min(stated, key=(*SAVED_POLICIES, *RECOMPUTED_POLICIES).index)
        first.attributes[RECOMPUTE] = ir.StringAttr.get(chosen, first.context)


def _key(op: ir.Operation) -> tuple:
    """What is equal for ops that give equal values. MLIR keeps one of equal types."""
    name, facts = op.name, attributes_key(op, RECOMPUTE)
    if name.startswith(CONSTANT):
        return name, facts
    operands = tuple(op.operands)
    if row(op).is_commutative and _commutes(op):
        operands = (frozenset(operands[:2]), *operands[2:])
    return name, operands, facts, tuple([result.type for result in op.results])


def _commutes(op: ir.Operation) -> bool:
    """Of a scalar tensor and half precision, ATen multiplies by the second unrounded, and rounds the first."""
    result, *infos = (tensor_info(value.type) for value in (op.results[0], *list(op.operands)[:2]))
    is_mixed = None not in infos and len({info.dtype for info in infos if info is not None}) > 1
    alphas = list(op.operands)[2:]
    return result is not None and not result.is_complex and not is_mixed and all(number(alpha) == 1 for alpha in alphas)
