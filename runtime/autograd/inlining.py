"""A host function with its regions inlined: what runs op by op where the compiled regions can't."""

from collections.abc import Iterator, Mapping

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import AllocOp, DestinationOp, FreeOp, OwnOp, ReuseOp
from dovetail.dialects.dovetail.ops.read import read
from dovetail.dialects.reading import referred
from dovetail.dialects.torch_facts.types import is_memory

Functions = Mapping[str, func.FuncOp]


def ops_of(function_op: func.FuncOp) -> Iterator[ir.Operation]:
    """The operations of a function's body."""
    return (op.operation for op in function_op.body.blocks[0].operations)


def inlined(function_op: func.FuncOp, arguments: list, functions: Functions) -> list:
    """Clones a function's ops to the insertion point; returns what it returns, None for owned memory.

    Memory that a region writes is followed as the value that it then holds.
    """
    parameters = function_op.body.blocks[0].arguments
    values: dict[ir.Value, ir.Value | None] = dict(zip(parameters, arguments, strict=True))
    returned: list = []
    for op in ops_of(function_op):
        match op.opview:
            case func.ReturnOp():
                returned = [values[each] for each in parameters if is_memory(each)]
                returned += [values.get(each) for each in op.operands]
            case func.CallOp():
                given = [values.get(each) for each in op.operands]
                results = inlined(functions[referred(op.opview, "callee")], given, functions)
                into = [*(each for each in op.operands if is_memory(each)), *op.results]
                values.update(zip(into, results, strict=True))
            case OwnOp() | AllocOp() | ReuseOp() | FreeOp():
                continue
            case DestinationOp():
                values[op.opview.memory] = read(values[op.opview.ref]).value
            case _ if op.name == "torch.overwrite.tensor.contents":
                values[op.operands[1]] = values[op.operands[0]]
            case _ if op.name == "torch.copy.to_vtensor":
                values[op.results[0]] = values[op.operands[0]]
            case _:
                values.update(zip(op.results, _clone(op, values).results, strict=True))
    return returned


def _clone(op: ir.Operation, values: Mapping) -> ir.Operation:
    with op.location:
        new = op.clone()
    for index, operand in enumerate(op.operands):
        new.operands[index] = values[operand]
    return new
