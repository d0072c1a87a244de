"""Which arguments of a function share memory, as the guard that it calls declares them."""

from collections.abc import Iterable, Iterator

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import GROUP
from dovetail.dialects.calls import is_guard, referred, symbol


def with_aliases(function_op: func.FuncOp, refs: Iterable[ir.Value]) -> set[ir.Value]:
    """`refs`, and the arguments of `function_op` that share memory with one of them."""
    found = set(refs)
    return found.union(*(group for group in memory_groups(function_op) if found.intersection(group)))


def memory_groups(function_op: func.FuncOp) -> list[list[ir.Value]]:
    """The arguments of `function_op` that lie in one another's memory, group by group."""
    groups: dict[int, list[ir.Value]] = {}
    for ref, facts in _guarded(function_op):
        if GROUP in facts:
            groups.setdefault(ir.IntegerAttr(facts[GROUP]).value, []).append(ref)
    return list(groups.values())


def _guarded(function_op: func.FuncOp) -> Iterator[tuple[ir.Value, ir.DictAttr]]:
    module = function_op.operation.parent
    declared = {symbol(op): op for op in module.opview.body.operations if is_guard(op)} if module else {}
    for op in function_op.body.blocks[0].operations:
        if isinstance(op, func.CallOp) and referred(op, "callee") in declared:
            facts = ir.ArrayAttr(declared[referred(op, "callee")].attributes["arg_attrs"])
            yield from zip(op.operation.operands, map(ir.DictAttr, facts), strict=True)
