"""FX nodes that compute numbers which are open, and sizes that only data tells."""

import contextlib
import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch_mlir import ir

from dovetail.dialects.dovetail import PowOp, QuotientOp, SqrtOp
from dovetail.dialects.torch_facts.arithmetic import COMPARISONS
from dovetail.dialects.torch_facts.numbers import number as number_of
from dovetail.dialects.torch_facts.types import torch_type
from dovetail.errors import UnsupportedError
from dovetail.frontend.to_ir.building import torch_op
from dovetail.frontend.to_ir.whole_numbers import computed_whole, says_more

if TYPE_CHECKING:
    from dovetail.frontend.to_ir.node_importer import NodeImporter

_ITEM_REASON = "a Python number, which is read on the host"
_SIZE_REASON = "a size that only data tells"
_ITEMS = (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.item.default)


def bind_number(importer: "NodeImporter", node: torch.fx.Node) -> bool:
    """Makes the number that `node` computes of symbols alone, at the insertion point; False if it computes none."""
    number = node.meta.get("val") if node.op == "call_function" else None
    if not isinstance(number, torch.SymInt | torch.SymFloat | torch.SymBool):
        return False
    with importer.location(node):
        importer.bind_node_value(node, _value(importer, node, number))
    return True


def _value(importer: "NodeImporter", node: torch.fx.Node, number: Any) -> ir.Value:
    is_item = node.target in _ITEMS
    if isinstance(number, torch.SymBool):
        return compared(node.target, list(map(importer.argument, node.args)))
    if node.target is torch.sym_ite:  # of a truth value, 1 and 0
        return torch_op("torch.aten.Int.bool", "int", importer.resolve_node_value(node.args[0]))
    if isinstance(number, torch.SymFloat) and not is_item:
        operands = list(map(importer.argument, node.args))
        if (known := _known(node.target, operands)) is not None:
            return importer.argument(known)
        # What the user's own Python computes has no such tag in a custom function's backward either.
        if node.target is operator.truediv and node.meta.get("partitioner_tag") == "is_backward":
            # Eager's own backward divides by 0: Python raises.
            return QuotientOp.build([*map(float_of, operands)], [torch_type("float")]).quotient
        return computed(number, node.target, operands)
    if is_item and importer.open.is_new(number):
        item, kind = torch.ops.aten.item.default, "int" if isinstance(number, torch.SymInt) else "float"
        op = importer.library_call(node, item, _ITEM_REASON, node.args, {}, [torch_type(kind)])
        importer.open.define(number, op.result)
    elif says_more(node) and not importer.open.is_affine(number):
        # What no affine expression says is a symbol of its own, which `node` computes.
        operands = [importer.argument(argument) for argument in node.args if argument is not None]
        importer.open.define(number, computed_whole(node.target, operands))
    value = importer.open.value(number)
    return value if isinstance(value, ir.Value) else importer.argument(value)


def _known(target: Any, operands: Sequence[ir.Value]) -> float | None:
    """What Python's operator `target` makes of numbers that were fixed since; None if one is open, or it raises."""
    numbers = list(map(number_of, operands))
    if None in numbers:
        return None
    with contextlib.suppress(ArithmeticError, ValueError):
        return float(target(*numbers))
    return None


def define_sizes(importer: "NodeImporter", node: torch.fx.Node, value: ir.Value, made: torch.Tensor) -> None:
    """Reads the sizes of `value` that only data tells, once it is made, by library calls."""
    sizes: Sequence = made.size()
    for dim, size in enumerate(sizes):
        if importer.open.is_new(size):
            with importer.location(node):
                operands = [value, importer.argument(dim)]
                op = importer.call(node, "aten.sym_size.int", _SIZE_REASON, operands, [torch_type("int")])
            importer.open.define(size, op.result)


_COMPARISONS = {getattr(operator, name): name for name in COMPARISONS}
_LOGIC = {
    torch.sym_not: "torch.aten.__not__",
    operator.and_: "torch.aten.__and__.bool",
    operator.or_: "torch.aten.__or__.bool",
}

# What takes the root of an open number, by the names under which Dynamo has it.
_ROOTS = (torch.sym_sqrt, torch._sym_sqrt, math.sqrt)  # type: ignore[attr-defined]  # Dynamo's own name

# Python's operators on numbers of floating point, by the op that computes each.
_OF_FLOATS = {
    operator.add: "torch.aten.add.float",
    operator.sub: "torch.aten.sub.float",
    operator.mul: "torch.aten.mul.float",
    operator.truediv: "torch.aten.div.float",
    operator.neg: "torch.aten.neg.float",
}


def computed(number: torch.SymFloat, target: Any, operands: Sequence[ir.Value]) -> ir.Value:
    """The value that is `number`, which Python's operator `target` makes of others.

    Each operator is one op: an expression of sympy's is simplified as if nothing were rounded, infinite or NaN.
    """
    if target is torch.sym_float:
        return float_of(operands[0])
    if target in _ROOTS:
        return SqrtOp.build([float_of(operands[0])], [torch_type("float")]).root
    if target is operator.pow:
        return PowOp.build([*map(float_of, operands)], [torch_type("float")]).power
    if target not in _OF_FLOATS:
        raise UnsupportedError(f"the number {number} can't be open: the IR has no op for {target.__name__}")
    return torch_op(_OF_FLOATS[target], "float", *map(float_of, operands))


def compared(target: Any, operands: Sequence[ir.Value]) -> ir.Value:
    """The truth value that Python's operator `target` makes of two numbers of one type, or of truth values."""
    if target in _LOGIC:
        return _truth(_LOGIC[target], *operands)
    floats = [operand for operand in operands if operand.type == torch_type("float")]
    # Python compares an int with a float as they are: a constant is the same as a float.
    is_alike = all(each in floats or not floats or each.owner.name == "torch.constant.int" for each in operands)
    if target not in _COMPARISONS or not is_alike:
        raise UnsupportedError(f"a truth value of open numbers: the IR has no op for {target.__name__} of them")
    if not floats:
        return _truth(f"torch.aten.{_COMPARISONS[target]}.int", *operands)
    one, other = map(float_of, operands)
    if target is operator.le:
        return _truth("torch.aten.ge.float", other, one)
    if target is operator.ne:
        return _truth(_LOGIC[torch.sym_not], _truth("torch.aten.eq.float", one, other))
    return _truth(f"torch.aten.{_COMPARISONS[target]}.float", one, other)


def _truth(name: str, *operands: ir.Value) -> ir.Value:
    return torch_op(name, "bool", *operands)


def float_of(number: ir.Value) -> ir.Value:
    """A number as one of floating point."""
    return number if number.type == torch_type("float") else torch_op("torch.aten.Float.Scalar", "float", number)
