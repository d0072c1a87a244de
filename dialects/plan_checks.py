"""What a launch plan checks of the sizes of a call: those that its region takes for equal."""

from collections.abc import Mapping

from torch_mlir import ir
from torch_mlir.dialects import arith, func

from dovetail.dialects.dovetail.numbers import value
from dovetail.dialects.dovetail.ops.check_equal import check_equal
from dovetail.dialects.dovetail.ops.size import size
from dovetail.dialects.size_expressions import used_symbols_of
from dovetail.dialects.symbols import sizes_of
from dovetail.dialects.torch_facts.types import shaped_info

# Rounded to zero where the dialect of symbols rounds down: of sizes there is none below 0.
_OPS = {ir.AffineAddExpr: arith.AddIOp, ir.AffineMulExpr: arith.MulIOp, ir.AffineFloorDivExpr: arith.DivSIOp}


def import_checks(region: func.FuncOp, arguments: ir.BlockArgumentList) -> None:
    """Builds the checks for what `region` says of the open sizes of its arguments.

    The first size that is a symbol by itself is the symbol; a size of symbols that are none so far is not checked.
    """
    stated = []
    for place, argument in enumerate(region.arguments):
        info, sizes = shaped_info(argument.type), sizes_of(argument)
        if info is not None and sizes is not None:
            stated += [(place, dim, each) for dim, each in enumerate(sizes) if info.shape[dim] is None]
    known: dict[int, ir.Value] = {}
    first: set[tuple[int, int]] = set()
    for place, dim, each in stated:
        if isinstance(each, ir.AffineSymbolExpr) and each.position not in known:
            known[each.position] = size(arguments[place], dim).number
            first.add((place, dim))
    for place, dim, each in stated:
        if (place, dim) not in first and known.keys() >= used_symbols_of(each) and not _has_remainder(each):
            check_equal(size(arguments[place], dim).number, _computed(each, known))


def _computed(expression: ir.AffineExpr, known: Mapping[int, ir.Value]) -> ir.Value:
    match expression:
        case ir.AffineConstantExpr():
            return value(expression.value)
        case ir.AffineSymbolExpr():
            return known[expression.position]
    return _OPS[type(expression)](_computed(expression.lhs, known), _computed(expression.rhs, known)).result


def _has_remainder(expression: ir.AffineExpr) -> bool:
    """Whether a remainder is a part of it, which plans don't compute."""
    if isinstance(expression, ir.AffineConstantExpr | ir.AffineSymbolExpr):
        return False
    parts = _has_remainder(expression.lhs) or _has_remainder(expression.rhs)
    return parts or type(expression) not in _OPS
