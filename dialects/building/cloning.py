"""What moves IR around: cloning with a value map, types of functions, facts, what is unused."""

from collections.abc import Container, Iterable, Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import argument_facts, arguments, is_used, operand_ops, producer, result_facts
from dovetail.dialects.torch_facts.names import LITERAL
from dovetail.dialects.torch_facts.ops import Kind, is_constant, row
from dovetail.dialects.torch_facts.types import tensor_info, torch_type

# Tensors made of Python's values: no ops of ATen's, but nothing that the host would need compiled code for.
FROM_PYTHON = (LITERAL, "torch.prim.NumToTensor.Scalar")


def clone(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> ir.Operation:
    """Clones `op` at the current insertion point, operands and results going through `values`.

    Constants that the map does not know are cloned along.
    """
    operands = [values.get(value) or _mapped(value, values) for value in op.operands]
    new = op.clone()
    position = new.operands
    for index, operand in enumerate(operands):
        position[index] = operand
    for result, made in zip(op.results, new.results, strict=True):
        values[result] = made
    return new


def _mapped(value: ir.Value, values: dict[ir.Value, ir.Value]) -> ir.Value:
    op = producer(value)
    if op is not None and is_constant(op):
        clone(op, values)
    return values[value]


def ancestors(roots: Iterable[ir.Operation]) -> set[ir.Operation]:
    """`roots` and every operation that they need, in the same block."""
    return reachable(roots, operand_ops)


def state_facts(function_op: func.FuncOp, where: str, facts: Mapping[int, Mapping[str, ir.Attribute | None]]) -> None:
    """Sets attributes of arguments or results by number, without those that are None.

    `where` is "arg_attrs" or "res_attrs".
    """
    changed = (argument_facts if where == "arg_attrs" else result_facts)(function_op)
    for number, each in facts.items():
        if not each:
            continue
        merged = {old.name: old.attr for old in changed[number]} | dict(each)
        changed[number] = ir.DictAttr.get({name: fact for name, fact in merged.items() if fact is not None})
    if where in function_op.attributes or any(map(len, changed)):
        function_op.attributes[where] = ir.ArrayAttr.get(changed)


def set_signature(function_op: func.FuncOp, results: Sequence[ir.Type]) -> None:
    """Makes the function's type say what its block takes and what it now returns."""
    taken = [argument.type for argument in arguments(function_op)]
    function_op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(taken, list(results)))


def constant_none() -> ir.Value:
    """Builds a `torch.constant.none`."""
    return ir.Operation.create("torch.constant.none", results=[torch_type("none")]).result


def attributes_key(op: ir.Operation, *others: str) -> tuple[tuple[str, object], ...]:
    """Names and values of `op`'s attributes, but for those with the prefixes `others`; equal for equal attributes.

    MLIR keeps one of equal attributes.
    """
    attributes = op.attributes
    info = tensor_info(op.results[0].type) if op.name == LITERAL else None
    if info is not None and info.is_complex:
        return (("value", str(op).partition("=")[2]),)  # the bindings can't read its elements
    if not len(attributes):
        return ()
    return tuple([(name, attribute) for name, attribute in attributes.items() if not name.startswith(others)])


def erase_unused(value: ir.Value, kinds: Container[Kind]) -> None:
    """Erases the ops of `kinds` that compute `value`, as far as nothing else uses their results."""
    pending = {value: None}  # each value once: what is erased may not be asked again
    while pending:
        each, _ = pending.popitem()
        op = producer(each)
        if op is None or row(op).kind not in kinds or is_used(*op.results):
            continue
        operands = dict.fromkeys(op.operands)
        op.erase()
        pending |= operands
