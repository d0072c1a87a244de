"""Which arguments of a function share memory, as the guard that it calls declares them."""

from collections.abc import Iterable, Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import GROUP
from dovetail.dialects.by_key import by_key
from dovetail.dialects.reading import Facts, argument_facts, body, module_of, of_class, referred


def with_aliases(function_op: func.FuncOp, refs: Iterable[ir.Value]) -> set[ir.Value]:
    """`refs`, and the arguments of `function_op` that share memory with one of them."""
    found = set(refs)
    return found.union(*(group for group in memory_groups(function_op) if found.intersection(group)))


def are_apart(function_op: func.FuncOp, refs: Sequence[ir.Value]) -> bool:
    """Whether no two of `refs`, arguments of `function_op`, lie in memory that they share."""
    written = set(refs)
    return len(written) == len(refs) and all(
        len(written.intersection(each)) <= 1 for each in memory_groups(function_op)
    )


def memory_groups(function_op: func.FuncOp) -> list[list[ir.Value]]:
    """The arguments of `function_op` that lie in one another's memory, group by group."""
    grouped = ((ref, facts[GROUP]) for ref, facts in _guarded(function_op) if GROUP in facts)
    return list(by_key((ir.IntegerAttr(group).value, ref) for ref, group in grouped).values())


def _guarded(function_op: func.FuncOp) -> Iterator[tuple[ir.Value, Facts]]:
    calls = of_class(body(function_op), func.CallOp)
    module = module_of(function_op) if calls else None
    declared = module.guards if module else {}
    for op in calls if declared else ():
        if referred(op, "callee") in declared:
            yield from zip(op.operands, argument_facts(declared[referred(op, "callee")]), strict=True)
