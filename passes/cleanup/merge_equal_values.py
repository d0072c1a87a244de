"""Pass `merge-equal-values`: the same op on the same values is computed once."""

from torch_mlir import ir

from dovetail.dialects.attributes import RECOMPUTE
from dovetail.dialects.building.cloning import attributes_key
from dovetail.dialects.dovetail import ReadOp
from dovetail.dialects.reading import Module, is_used
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.statements.recompute import RECOMPUTED_POLICIES, SAVED_POLICIES, recompute_policy
from dovetail.dialects.torch_facts.numbers import number
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.types import tensor_info
from dovetail.passes.base import Pass

_CONSTANT = "torch.constant."  # more than half of all ops, before they are merged


class MergeEqualValuesPass(Pass, name="merge-equal-values", runs_at="joint"):
    """Merges torch ops of equal name, operands, attributes and result types, and drops those that nothing uses.

    MLIR's own `cse` merges no torch op that takes a tensor: their dialect says of all of them that they read memory.
    Values have none, so nothing can change between two of them: not autograd's mode either, in which only
    `dovetail.view` makes something, and that is never merged. Library calls may draw random numbers: they are left
    alone. `a + b` is `b + a`, except for complex numbers, whose products round by order. What the user's checkpointing
    says of one op, it says of both: saved, if it says so of either, since then it is there; else computed anew.

    Before:  `%1 = torch.aten.exp %0; %2 = torch.aten.exp %0; %3 = torch.aten.mul.Tensor %1, %2`
    After:   `%1 = torch.aten.exp %0; %3 = torch.aten.mul.Tensor %1, %1`
    """

    def run(self, module: ir.Module) -> None:
        for ops in Module(module).bodies.values():
            _drop_unused(_merge(ops))


def _is_value(op: ir.Operation) -> bool:
    name = op.name
    if name == "torch.operator":
        return not is_extern(op)
    return name.startswith(_CONSTANT) or (name.startswith("torch.") and kind(op) is not Kind.UNKNOWN)


def _merge(ops: list[ir.Operation]) -> list[ir.Operation]:
    """Merges the equal ones among `ops`; returns those that are left."""
    seen: dict[tuple, ir.Operation] = {}
    kept = []
    for op in ops:
        first = seen.setdefault(_key(op), op) if _is_value(op) else op
        if first is op:
            kept.append(op)
            continue
        for old, new in zip(op.results, first.results, strict=True):
            old.replace_all_uses_with(new)
        if not op.name.startswith(_CONSTANT):
            _join_policies(first, op)
        op.erase()
    return kept


def _join_policies(first: ir.Operation, other: ir.Operation) -> None:
    stated = [policy for op in (first, other) if (policy := recompute_policy(op)) is not None]
    if stated:
        chosen = min(stated, key=(*SAVED_POLICIES, *RECOMPUTED_POLICIES).index)
        first.attributes[RECOMPUTE] = ir.StringAttr.get(chosen, first.context)


def _key(op: ir.Operation) -> tuple:
    """What is equal for ops that give equal values. MLIR keeps one of equal types."""
    name, facts = op.name, attributes_key(op, RECOMPUTE)
    if name.startswith(_CONSTANT):
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


def _drop_unused(ops: list[ir.Operation]) -> None:
    for op in reversed(ops):
        removable = op.name == ReadOp.OPERATION_NAME or _is_value(op)
        if removable and not is_used(*op.results):
            op.erase()
