"""Sizes as affine expressions of symbols: what they come to, by numbers, by names, or by values of the IR."""

from collections.abc import Mapping

from torch_mlir import ir

from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.torch_facts.arithmetic import ARITHMETIC
from dovetail.dialects.torch_facts.types import torch_type

# The op of the torch dialect, by the class of the expression.
_OPS = {
    ir.AffineAddExpr: "torch.aten.add.int",
    ir.AffineMulExpr: "torch.aten.mul.int",
    ir.AffineFloorDivExpr: "torch.aten.floordiv.int",
    ir.AffineModExpr: "torch.aten.remainder.int",
}


def used_symbols_of(size: ir.AffineExpr) -> set[int]:
    """The numbers of the symbols in an expression."""
    if isinstance(size, ir.AffineSymbolExpr):
        return {size.position}
    if isinstance(size, ir.AffineConstantExpr):
        return set()
    return used_symbols_of(size.lhs) | used_symbols_of(size.rhs)


def renumbered(size: ir.AffineExpr, places: Mapping[int, int]) -> ir.AffineExpr:
    """The same expression, with other numbers for its symbols."""
    match size:
        case ir.AffineConstantExpr():
            return size
        case ir.AffineSymbolExpr():
            return ir.AffineExpr.get_symbol(places[size.position])
    left, right = renumbered(size.lhs, places), renumbered(size.rhs, places)
    match size:
        case ir.AffineAddExpr():
            return left + right
        case ir.AffineMulExpr():
            return left * right
        case ir.AffineModExpr():
            return ir.AffineExpr.get_mod(left, right)
        case ir.AffineFloorDivExpr():
            return ir.AffineExpr.get_floor_div(left, right)
    return ir.AffineExpr.get_ceil_div(left, right)


def evaluated(size: ir.AffineExpr, known: Mapping[int, int]) -> int:
    """The number that `size` is, by the numbers that the symbols are; raises KeyError for one that is not `known`."""
    match size:
        case ir.AffineConstantExpr():
            return size.value
        case ir.AffineSymbolExpr():
            return known[size.position]
    left, right = evaluated(size.lhs, known), evaluated(size.rhs, known)
    match size:
        case ir.AffineAddExpr():
            return left + right
        case ir.AffineMulExpr():
            return left * right
        case ir.AffineModExpr():
            return left % right
        case ir.AffineFloorDivExpr():
            return left // right
    return -(-left // right)


def said(size: ir.AffineExpr, names: Mapping[int, str]) -> str:
    """Python's text for the number that `size` is, by the names of the symbols; raises KeyError for one without."""
    match size:
        case ir.AffineConstantExpr():
            return str(size.value)
        case ir.AffineSymbolExpr():
            return names[size.position]
    operands = said(size.lhs, names), said(size.rhs, names)
    return ARITHMETIC[_OPS[type(size)]].format(*operands)


def materialise(size: ir.AffineExpr, known: Mapping[int, ir.Value]) -> ir.Value:
    """Builds the number that `size` is, by the values of the symbols.

    Raises:
        KeyError: for a symbol that is not `known`.
    """
    if isinstance(size, ir.AffineConstantExpr):
        return _int("torch.constant.int", [], {"value": i64(size.value)})
    if isinstance(size, ir.AffineSymbolExpr):
        return known[size.position]
    if isinstance(size, ir.AffineCeilDivExpr):
        raise KeyError(f"ceildiv in {size}")
    return _int(_OPS[type(size)], [materialise(size.lhs, known), materialise(size.rhs, known)], {})


def _int(name: str, operands: list, attributes: dict[str, ir.Attribute]) -> ir.Value:
    return ir.Operation.create(name, results=[torch_type("int")], operands=operands, attributes=attributes).result
