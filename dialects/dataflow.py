"""One walk over what values and memory hold, through calls of regions: what is computed from what.

Regions take memory and overwrite it, host functions allocate it and load what it then holds. Whoever follows values
through a program asks `follow`, or `follow_ops`, and says only what an op that computes makes of its operands.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TypeVar

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import AllocOp, FreeOp, PartOp, ReuseOp
from dovetail.dialects.reading import Module, arguments
from dovetail.dialects.statements.calls import written
from dovetail.dialects.torch_facts.names import LOAD, STORE
from dovetail.dialects.torch_facts.types import is_memory

T = TypeVar("T")
Compute = Callable[[ir.Operation, list[T | None]], Iterable[T | None]]

_CALL = func.CallOp.OPERATION_NAME
_MEMORY = frozenset(each.OPERATION_NAME for each in (AllocOp, PartOp, ReuseOp, FreeOp))


def follow(
    function_op: func.FuncOp,
    given: Sequence[T | None],
    module: Module,
    compute: Compute,
    known: dict[ir.Value, T | None] | None = None,
) -> list[T | None]:
    """Goes through the ops of a one-block function, and of the regions that it calls, in the order in which they run.

    Args:
        given: what stands for each argument; for memory, what stands for the value that it holds.
        module: that of the function. Calls of what is no region are ops that compute.
        compute: takes an op and what stands for its operands, and gives what stands for each of what it has `made`, or
            more of it. It is not asked of calls, loads and stores. None stands for what nothing is known of, such as
            memory that is new.
        known: gets what stands for each value, in the regions too; for memory, what does at the end.

    Returns:
        What stands for the memory among the arguments when the function returns, then for each of its results.
    """
    known, parameters = {} if known is None else known, arguments(function_op)
    known.update(zip(parameters, given, strict=True))
    *ops, end = module.ops(function_op)
    follow_ops(ops, module, compute, known)
    return [known.get(value) for value in (*filter(is_memory, parameters), *end.operands)]


def follow_ops(ops: Iterable[ir.Operation], module: Module, compute: Compute, known: dict[ir.Value, T | None]) -> None:
    """Like `follow`, through `ops` in their order; `known` has what stands for values that others compute."""
    for op in ops:
        name, operands = op.name, [known.get(value) for value in op.operands]
        region = module.region(op) if name == _CALL else None
        if region is not None:
            into = [*filter(is_memory, op.operands), *op.results]
            known.update(zip(into, follow(region, operands, module, compute, known), strict=True))
        elif name == STORE:
            known[op.operands[1]] = operands[0]
        elif name == LOAD:
            known[op.results[0]] = operands[0]
        elif name not in _MEMORY:
            memory = written(op) if name == "torch.operator" else None
            made, taken = (op.results, operands) if memory is None else ([memory], operands[:-1])
            known.update(zip(made, islice(compute(op, taken), len(made)), strict=True))
