"""One walk over what values and memory hold, through calls of regions: what is computed from what.

Regions take memory and overwrite it, host functions allocate it and load what it then holds. Whoever follows values
through a program asks `follow`, and says only what an op that computes makes of its operands.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import AllocOp, FreeOp, ReuseOp
from dovetail.dialects.memory.contents import LOAD, STORE
from dovetail.dialects.reading import arguments, body, referred
from dovetail.dialects.torch_facts.types import is_memory

T = TypeVar("T")
Compute = Callable[[ir.Operation, list[T | None]], Sequence[T | None]]

_MEMORY = frozenset(each.OPERATION_NAME for each in (AllocOp, ReuseOp, FreeOp))


def follow(
    function_op: func.FuncOp,
    given: Sequence[T | None],
    functions: Mapping[str, func.FuncOp],
    compute: Compute,
    known: dict[ir.Value, T | None] | None = None,
) -> list[T | None]:
    """Goes through the ops of a one-block function, and of those that it calls, in the order in which they run.

    Args:
        given: what stands for each argument; for memory, what stands for the value that it holds.
        functions: by symbol, those to go into where they are called. Calls of others are ops that compute.
        compute: takes an op and what stands for its operands, and gives what stands for its results. It is not asked
            of calls, loads and stores. None stands for what nothing is known of, such as memory that is new.
        known: gets what stands for each value in all of these functions, for memory at the end.

    Returns:
        What stands for the memory among the arguments when the function returns, then for each of its results.
    """
    known, parameters = {} if known is None else known, arguments(function_op)
    known.update(zip(parameters, given, strict=True))
    *ops, end = body(function_op)
    for op in ops:
        operands = [known.get(value) for value in op.operands]
        callee = functions.get(referred(op, "callee")) if op.name == func.CallOp.OPERATION_NAME else None
        if callee is not None:
            into = [*filter(is_memory, op.operands), *op.results]
            known.update(zip(into, follow(callee, operands, functions, compute, known), strict=True))
        elif op.name == STORE:
            known[op.operands[1]] = operands[0]
        elif op.name == LOAD:
            known[op.results[0]] = operands[0]
        elif op.name not in _MEMORY:
            known.update(zip(op.results, compute(op, operands), strict=True))
    return [known.get(value) for value in (*filter(is_memory, parameters), *end.operands)]
