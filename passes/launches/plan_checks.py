"""What a launch plan checks of the sizes of a call: those that its region takes for equal."""

from collections.abc import Callable, Mapping

from torch_mlir import ir
from torch_mlir.dialects import arith, func

from dovetail.dialects.dovetail import CheckEqualOp
from dovetail.dialects.dovetail.numbers import value
from dovetail.dialects.dovetail.ops.size import size
from dovetail.dialects.reading import arguments
from dovetail.dialects.sizes.size_expressions import folded, used_symbols_of
from dovetail.dialects.sizes.symbols import sizes_of
from dovetail.dialects.torch_facts.types import shaped_info


def _rounded_down(dividend: ir.Value, by: ir.Value) -> ir.Value:
    """The quotient as the dialect of symbols rounds it, below 0 too: a size rounded up is -(-n // by)."""
    zero = value(0)
    return arith.subi(zero, arith.ceildivsi(arith.subi(zero, dividend), by))


def _remainder(dividend: ir.Value, by: ir.Value) -> ir.Value:
    return arith.subi(dividend, arith.muli(_rounded_down(dividend, by), by))


_COMPUTED: Mapping[type, Callable[[ir.Value, ir.Value], ir.Value]] = {
    ir.AffineAddExpr: arith.addi,
    ir.AffineMulExpr: arith.muli,
    ir.AffineFloorDivExpr: _rounded_down,
    ir.AffineModExpr: _remainder,
}


def import_checks(region: func.FuncOp, given: ir.BlockArgumentList) -> None:
    """Builds the checks for what `region` says of the open sizes of its arguments.

    The first size that is a symbol by itself is the symbol; a size of symbols that are none so far is not checked.
    """
    stated = []
    for index, argument in enumerate(arguments(region)):
        info, sizes = shaped_info(argument.type), sizes_of(argument)
        if info is not None and sizes is not None:
            stated += [(index, dim, each) for dim, each in enumerate(sizes) if info.shape[dim] is None]
    known: dict[int, ir.Value] = {}
    first: set[tuple[int, int]] = set()
    for index, dim, each in stated:
        if isinstance(each, ir.AffineSymbolExpr) and each.position not in known:
            known[each.position] = size(given[index], dim).number
            first.add((index, dim))
    for index, dim, each in stated:
        if (index, dim) not in first and known.keys() >= used_symbols_of(each):
            computed = folded(each, value, known.__getitem__, lambda kind, left, right: _COMPUTED[kind](left, right))
            CheckEqualOp.build([size(given[index], dim).number, computed])
