"""Sizes as affine expressions of symbols: what they come to, by numbers, by names, or by values of the IR."""

import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from torch_mlir import ir

from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.torch_facts.arithmetic import ARITHMETIC
from dovetail.dialects.torch_facts.types import torch_type

# What each class of expressions is: as an expression again, of numbers, and the op of the torch dialect.
_EXPRESSIONS: dict[type, Callable] = {
    ir.AffineAddExpr: operator.add,
    ir.AffineMulExpr: operator.mul,
    ir.AffineFloorDivExpr: ir.AffineExpr.get_floor_div,
    ir.AffineModExpr: ir.AffineExpr.get_mod,
    ir.AffineCeilDivExpr: ir.AffineExpr.get_ceil_div,
}
_NUMBERS: dict[type, Callable[[int, int], int]] = {
    ir.AffineAddExpr: operator.add,
    ir.AffineMulExpr: operator.mul,
    ir.AffineFloorDivExpr: operator.floordiv,
    ir.AffineModExpr: operator.mod,
    ir.AffineCeilDivExpr: lambda left, right: -(-left // right),
}
_OPS = {
    ir.AffineAddExpr: "torch.aten.add.int",
    ir.AffineMulExpr: "torch.aten.mul.int",
    ir.AffineFloorDivExpr: "torch.aten.floordiv.int",
    ir.AffineModExpr: "torch.aten.remainder.int",
}

T = TypeVar("T")


def used_symbols_of(size: ir.AffineExpr) -> set[int]:
    """The numbers of the symbols in an expression."""
    return _folded(size, lambda _: set(), lambda number: {number}, lambda _, left, right: left | right)


def renumbered(size: ir.AffineExpr, places: Mapping[int, int]) -> ir.AffineExpr:
    """The same expression, with other numbers for its symbols."""
    return _folded(
        size,
        ir.AffineExpr.get_constant,
        lambda number: ir.AffineExpr.get_symbol(places[number]),
        lambda kind, left, right: _EXPRESSIONS[kind](left, right),
    )


def evaluated(size: ir.AffineExpr, known: Mapping[int, int]) -> int:
    """The number that `size` is, by the numbers that the symbols are; raises KeyError for one that is not `known`."""
    return _folded(
        size, lambda number: number, known.__getitem__, lambda kind, left, right: _NUMBERS[kind](left, right)
    )


def said(size: ir.AffineExpr, names: Mapping[int, str]) -> str:
    """Python's text for the number that `size` is, by the names of the symbols; raises KeyError for one without."""
    return _folded(size, str, names.__getitem__, lambda kind, left, right: ARITHMETIC[_OPS[kind]].format(left, right))


def materialise(size: ir.AffineExpr, known: Mapping[int, ir.Value]) -> ir.Value:
    """Builds the number that `size` is, by the values of the symbols.

    Raises:
        KeyError: for a symbol that is not `known`, or a quotient that is rounded up.
    """
    return _folded(
        size,
        lambda number: _int("torch.constant.int", [], {"value": i64(number)}),
        known.__getitem__,
        lambda kind, left, right: _int(_OPS[kind], [left, right], {}),
    )


def _folded(
    size: Any, constant: Callable[[int], T], symbol: Callable[[int], T], combined: Callable[[type, T, T], T]
) -> T:
    """What an expression comes to, from its constants and symbols up; `combined` takes the class of each part."""
    match size:
        case ir.AffineConstantExpr():
            return constant(size.value)
        case ir.AffineSymbolExpr():
            return symbol(size.position)
    left, right = (_folded(each, constant, symbol, combined) for each in (size.lhs, size.rhs))
    return combined(type(size), left, right)


def _int(name: str, operands: list, attributes: dict[str, ir.Attribute]) -> ir.Value:
    return ir.Operation.create(name, results=[torch_type("int")], operands=operands, attributes=attributes).result
