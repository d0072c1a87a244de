"""Numbers that Dynamo leaves open as affine expressions of the IR's symbols."""

import operator
from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

import sympy  # type: ignore[import-untyped]  # it has no stubs
import torch
from torch.fx.experimental.symbolic_shapes import ShapeEnv, free_unbacked_symbols
from torch.utils._pytree import tree_leaves
from torch.utils._sympy import functions as by_torch
from torch_mlir import ir

from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.source_lines import deciding_at
from dovetail.frontend.records import Capture

# Of each, an affine expression has one.
_DIVISIONS = (by_torch.FloorDiv, by_torch.CleanDiv)
_REMAINDERS = (by_torch.Mod, by_torch.PythonMod)
_ROUNDINGS = (by_torch.CeilToInt, by_torch.FloorToInt, by_torch.TruncToInt, by_torch.RoundToInt)
_EXACT = 1024
"""How large the parts of a fraction may be for products with sizes to be exact in floating point."""
LARGEST_OF = (by_torch.Max, sympy.Max)
"""Torch's name and sympy's for the largest of several numbers."""
_SMALLEST_OF = (by_torch.Min, sympy.Min)


def affine(expression: sympy.Expr, symbols: Mapping[sympy.Symbol, int], environment: ShapeEnv) -> ir.AffineExpr:
    """`expression` by `symbols`, by number; `environment` is Dynamo's, which guards what is decided on the way."""

    def of(part: sympy.Expr) -> ir.AffineExpr:
        return affine(part, symbols, environment)

    if expression in symbols:
        return ir.AffineExpr.get_symbol(symbols[expression])
    if isinstance(expression, sympy.Integer):
        return ir.AffineExpr.get_constant(int(expression))
    if isinstance(expression, sympy.Add | sympy.Mul):
        return reduce(operator.add if isinstance(expression, sympy.Add) else operator.mul, map(of, expression.args))
    if isinstance(expression, sympy.Pow | by_torch.PowByNatural) and expression.args[1].is_Integer:
        return of(sympy.Mul(*[expression.args[0]] * int(expression.args[1]), evaluate=False))
    if isinstance(expression, LARGEST_OF + _SMALLEST_OF):
        chosen = _stride_of(expression) if free_unbacked_symbols(expression) else _chosen(expression, environment)
        return of(chosen)
    if isinstance(expression, _DIVISIONS):
        return ir.AffineExpr.get_floor_div(*map(of, expression.args))
    if isinstance(expression, _ROUNDINGS):
        dividend, divisor = _quotient(expression)
        return ir.AffineExpr.get_floor_div(
            of(dividend) + _added(expression, of(dividend), divisor, environment), divisor
        )
    if isinstance(expression, _REMAINDERS):
        return ir.AffineExpr.get_mod(*map(of, expression.args))
    if isinstance(expression, sympy.Symbol):  # no op of the graph gives it: that of a slice, say, which starts there
        raise UnsupportedError(f"{expression}: what is told by a number that only data tells is not supported yet")
    raise UnsupportedError(f"the number {expression} can't be open: it is no sum, product, quotient or remainder")


def _chosen(expression: sympy.Expr, environment: ShapeEnv) -> sympy.Expr:
    """The largest or smallest of several numbers as it is now: that it is becomes a guard of Dynamo's."""
    is_largest = isinstance(expression, LARGEST_OF)
    chosen, *others = sorted(expression.args, key=lambda each: each.is_Integer)
    for other in others:
        larger, smaller = _ordered(chosen, other, environment)
        chosen = larger if is_largest else smaller
    return chosen


def _ordered(one: sympy.Expr, other: sympy.Expr, environment: ShapeEnv) -> tuple[sympy.Expr, sympy.Expr]:
    """The larger and the smaller of two numbers as they are now.

    Of equals, `other` is the larger one where guards allow `one` no more than that: "at least" would fix the size.
    """
    if environment.bound_sympy(one - other).upper <= 0:
        one, other = other, one
    return (one, other) if environment.evaluate_expr(sympy.Ge(one, other)) else (other, one)


def settle(capture: Capture) -> None:
    """Decides which are the largest and the smallest of sizes and numbers in `capture`.

    A size that is fixed by that is known before anything has a type. Equals come last: they can be ordered in two ways,
    and what else is decided may leave one that fixes nothing.
    """
    found: dict[sympy.Expr, tuple[torch.fx.Node, ShapeEnv]] = {}
    for number, node in _numbers(capture):
        for part in number.node.expr.atoms(*LARGEST_OF, *_SMALLEST_OF) if isinstance(number, torch.SymInt) else ():
            found.setdefault(part, (node, number.node.shape_env))
    symbols = [argument.symbol.node for argument in capture.inputs if argument.symbol is not None]
    now = {symbol.expr: sympy.sympify(symbol.hint) for symbol in symbols if symbol.hint is not None}

    def order(part: sympy.Expr) -> tuple:
        return len({each.xreplace(now) for each in part.args}) < len(part.args), sympy.count_ops(part), str(part)

    for part in sorted(found, key=order):
        node, environment = found[part]
        if not free_unbacked_symbols(part):
            with deciding_at(node):
                _chosen(part, environment)


def _numbers(capture: Capture) -> Iterator[tuple[Any, torch.fx.Node]]:
    """The numbers of a graph and the sizes of its tensors, each with its node; of what leaves, with the last one."""
    for node in capture.graph.nodes:
        for value in tree_leaves([node.meta.get("val")]):
            yield from ((number, node) for number in (value.size() if isinstance(value, torch.Tensor) else (value,)))
    steps = [step.args for result in capture.results for step in result.chain]
    layouts = [argument.layout for argument in capture.inputs] + [own.layout for own in capture.owned]
    leaving = tree_leaves((steps, [layout.size for layout in layouts if layout is not None]))
    yield from ((number, node) for number in leaving)


def _stride_of(expression: sympy.Expr) -> sympy.Expr:
    """`size` of `max(1, size)`: they differ in strides of tensors without elements, which nothing reads by."""
    is_stride = isinstance(expression, LARGEST_OF) and len(expression.args) == 2 and 1 in expression.args
    if not is_stride:
        raise UnsupportedError(f"the number {expression} can't be open: only data tells which one it is")
    return next(factor for factor in expression.args if factor != 1)


def _quotient(rounded: sympy.Expr) -> tuple[sympy.Expr, int]:
    """Dividend and divisor, above 0, of the quotient of whole numbers that is rounded; Python computes it exactly.

    Or nearly so: what it rounds to is what the quotient itself would be rounded to, of numbers below 2**52.
    """
    match rounded.args[0]:
        case by_torch.IntTrueDiv(args=(dividend, sympy.Integer() as divisor)) if divisor > 0:
            return dividend, int(divisor)
        case sympy.Mul(args=(sympy.Float() as factor, by_torch.ToFloat(args=(number,)))):
            numerator, denominator = float(factor).as_integer_ratio()
            if max(abs(numerator), denominator) <= _EXACT:
                return number * numerator, denominator
    raise UnsupportedError(f"the number {rounded} can't be open: what is rounded may differ from what its text says")


def _added(rounded: sympy.Expr, dividend: ir.AffineExpr, divisor: int, environment: ShapeEnv) -> ir.AffineExpr | int:
    """What is added to the dividend of a quotient so that it is rounded down to what `rounded` is."""
    match rounded:
        case by_torch.CeilToInt():
            return divisor - 1
        case by_torch.FloorToInt():
            return 0
        case by_torch.RoundToInt() if divisor % 2:
            return divisor // 2
        case by_torch.RoundToInt():  # half of the way, to what is even
            return ir.AffineExpr.get_floor_div(dividend, divisor) % 2 + (divisor // 2 - 1)
    if environment.bound_sympy(rounded).lower < 0:
        raise UnsupportedError(f"the number {rounded} can't be open: it may be below 0, and is rounded up there")
    return 0
