"""Sizes as affine expressions of symbols: what they come to, by numbers, by names, or by values of the IR."""

import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias, TypeVar

from torch_mlir import ir

from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.torch_facts.arithmetic import ARITHMETIC
from dovetail.dialects.torch_facts.sizes import LARGEST
from dovetail.dialects.torch_facts.types import torch_type
from dovetail.errors import ModuleError


class _Kind(NamedTuple):
    """What a class of expressions computes: of expressions, of numbers, and as an op of the torch dialect."""

    of_expressions: Callable[[Any, Any], ir.AffineExpr]
    of_numbers: Callable[[int, int], int]
    op: str


_KINDS: dict[type, _Kind] = {
    ir.AffineAddExpr: _Kind(operator.add, operator.add, "torch.aten.add.int"),
    ir.AffineMulExpr: _Kind(operator.mul, operator.mul, "torch.aten.mul.int"),
    ir.AffineFloorDivExpr: _Kind(ir.AffineExpr.get_floor_div, operator.floordiv, "torch.aten.floordiv.int"),
    ir.AffineModExpr: _Kind(ir.AffineExpr.get_mod, operator.mod, "torch.aten.remainder.int"),
}

_DEEPEST = 200
"""How deep an expression may be nested: what reads it goes down by recursion."""

T = TypeVar("T")
Numbered: TypeAlias = Callable[[Mapping[int, int]], int]
"""A number by those that the symbols are."""


def is_sound(size: ir.AffineExpr) -> bool:
    """Whether what reads sizes can take `size`, which may be any expression: no dimension and nothing rounded up.

    Where it divides by a number, that is above 0; a symbol by which it divides may come to be 0.
    """
    pending = [(size, 1)]
    while pending:
        each, depth = pending.pop()
        if isinstance(each, ir.AffineConstantExpr | ir.AffineSymbolExpr):
            continue
        if type(each) not in _KINDS or depth > _DEEPEST:
            return False
        divides = isinstance(each, ir.AffineFloorDivExpr | ir.AffineModExpr)
        if divides and isinstance(each.rhs, ir.AffineConstantExpr) and each.rhs.value <= 0:
            return False
        pending += [(each.lhs, depth + 1), (each.rhs, depth + 1)]
    return True


def used_symbols_of(size: ir.AffineExpr) -> set[int]:
    """The numbers of the symbols in an expression."""
    return folded(size, lambda _: set(), lambda number: {number}, lambda _, left, right: left | right)


def renumbered(size: ir.AffineExpr, indices: Mapping[int, int]) -> ir.AffineExpr:
    """The same expression, with other numbers for its symbols."""
    return folded(
        size,
        ir.AffineExpr.get_constant,
        lambda number: ir.AffineExpr.get_symbol(indices[number]),
        lambda kind, left, right: _KINDS[kind].of_expressions(left, right),
    )


def evaluated(size: ir.AffineExpr, known: Mapping[int, int]) -> int:
    """The number that `size` is, by the numbers that the symbols are.

    Raises:
        KeyError: for a symbol that is not `known`.
        ZeroDivisionError: for a quotient by a symbol that is 0.
    """
    return function_of(size)(known)


def function_of(size: ir.AffineExpr) -> Numbered:
    """What computes `size` as `evaluated` does, without MLIR."""

    def constant(number: int) -> Numbered:
        return lambda _: number

    def symbol(number: int) -> Numbered:
        return lambda known: known[number]

    def combined(kind: type, left: Numbered, right: Numbered) -> Numbered:
        return lambda known: _KINDS[kind].of_numbers(left(known), right(known))

    return folded(size, constant, symbol, combined)


def bounds(size: ir.AffineExpr | int, ranges: Mapping[int, tuple[int, int]]) -> tuple[int, int]:
    """Numbers that `size` is surely not below and not above, by the ranges of symbols; one without is at least 0.

    A size is a number of 64 bits, whatever its text could come to.
    """

    def combined(kind: type, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
        if kind is ir.AffineAddExpr:
            return left[0] + right[0], left[1] + right[1]
        if kind is not ir.AffineMulExpr and right[0] < 1:
            return -LARGEST, LARGEST
        if kind is ir.AffineModExpr:
            return 0, right[1] - 1
        corners = [_KINDS[kind].of_numbers(one, other) for one in left for other in right]
        return min(corners), max(corners)

    if isinstance(size, int):
        return size, size
    least, most = folded(size, lambda each: (each, each), lambda each: ranges.get(each, (0, LARGEST)), combined)
    return max(least, -LARGEST), min(most, LARGEST)


def divides_below_zero(size: ir.AffineExpr, ranges: Mapping[int, tuple[int, int]]) -> bool:
    """Whether `size` may divide a number below 0, as one that is rounded up does: -(-n // 3)."""
    size = size.maybe_downcast()
    if isinstance(size, ir.AffineConstantExpr | ir.AffineSymbolExpr):
        return False
    if isinstance(size, ir.AffineFloorDivExpr | ir.AffineModExpr) and bounds(size.lhs, ranges)[0] < 0:
        return True
    return any(divides_below_zero(side, ranges) for side in (size.lhs, size.rhs))


def has_remainder(size: ir.AffineExpr) -> bool:
    """Whether a part of `size` is a remainder."""
    size = size.maybe_downcast()
    if isinstance(size, ir.AffineConstantExpr | ir.AffineSymbolExpr):
        return False
    return isinstance(size, ir.AffineModExpr) or has_remainder(size.lhs) or has_remainder(size.rhs)


def said(size: ir.AffineExpr, names: Mapping[int, str]) -> str:
    """Python's text for the number that `size` is, by the names of the symbols; raises ModuleError for one without."""

    def named(symbol: int) -> str:
        if symbol not in names:
            known = ", ".join(f"s{number}" for number in sorted(names)) or "none"
            raise ModuleError(f"symbol s{symbol} is not known here, known are {known}")
        return names[symbol]

    return folded(size, str, named, lambda kind, left, right: ARITHMETIC[_KINDS[kind].op].format(left, right))


def materialise(size: ir.AffineExpr, known: Mapping[int, ir.Value]) -> ir.Value:
    """Builds the number that `size` is, by the values of the symbols.

    Raises:
        KeyError: for a symbol that is not `known`.
    """
    return folded(
        size,
        lambda number: _int("torch.constant.int", [], {"value": i64(number)}),
        known.__getitem__,
        lambda kind, left, right: _int(_KINDS[kind].op, [left, right], {}),
    )


def folded(
    size: Any, constant: Callable[[int], T], symbol: Callable[[int], T], combined: Callable[[type, T, T], T]
) -> T:
    """What an expression comes to, from its constants and symbols up; `combined` takes the class of each part."""
    size = size.maybe_downcast()  # `s0 * 0` is a constant by its text, and a product by its class in Python
    match size:
        case ir.AffineConstantExpr():
            return constant(size.value)
        case ir.AffineSymbolExpr():
            return symbol(size.position)
    left, right = (folded(side, constant, symbol, combined) for side in (size.lhs, size.rhs))
    return combined(type(size), left, right)


def _int(name: str, operands: list, attributes: dict[str, ir.Attribute]) -> ir.Value:
    return ir.Operation.create(name, results=[torch_type("int")], operands=operands, attributes=attributes).result
