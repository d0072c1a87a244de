"""What a region's text tells IREE of its open sizes: which are equal, in the torch dialect's own ops."""

from collections.abc import Mapping
from itertools import count

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import RANGE, SYMBOL
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.reading import Module, argument_facts, arguments, numbers
from dovetail.dialects.sizes.size_expressions import (
    bounds,
    divides_below_zero,
    has_remainder,
    renumbered,
    used_symbols_of,
)
from dovetail.dialects.sizes.symbols import sizes_of
from dovetail.dialects.torch_facts.types import is_value_type, torch_type

Range = tuple[int, int]
Stated = Mapping[int, tuple[ir.AffineExpr, ...]]
"""Sizes, by the number of the argument."""


def symbol_ranges(module: ir.Module) -> dict[int, Range]:
    """The least and the largest value of the symbols of `module`, by number, where guards say them."""
    found: dict[int, Range] = {}
    for function_op in Module(module).functions.values():
        for stated in argument_facts(function_op):
            bounds = numbers(stated, RANGE)
            if SYMBOL in stated and bounds is not None:
                found[ir.IntegerAttr(stated[SYMBOL]).value] = (bounds[0], bounds[1])
    return found


def bind_sizes(region: func.FuncOp, main: func.FuncOp, ranges: Mapping[int, Range]) -> None:
    """Says at the top of `main`, a copy of `region`, which of its sizes are one symbol.

    IREE assumes of a symbol that it is at least 1, so one that may be 0 is not said; nor is one that is no size itself.
    It rounds quotients to 0, so a size that divides what may be below 0 is not said either. One that would be below 0
    if symbols were 1, whatever is their least, is a symbol of its own: of such a size IREE assumes what can't be. So is
    one with a remainder: IREE takes `s0 mod 3` to be at least 1.
    Symbols are numbered by their first appearance, so that equal regions have equal texts.
    """
    stated: Stated = {
        index: sizes for index, each in enumerate(arguments(region)) if (sizes := sizes_of(each)) is not None
    }
    stated, ranges = _as_iree_bounds(stated, ranges)
    plain = {each.position for sizes in stated.values() for each in sizes if isinstance(each, ir.AffineSymbolExpr)}
    sound = {symbol for symbol in plain if ranges.get(symbol, (0, 0))[0] >= 1}
    indices: dict[int, int] = {}
    with ir.InsertionPoint.at_block_begin(main.body.blocks[0]):
        made: list[ir.Value] = []
        for index, sizes in stated.items():
            used = sorted({symbol for size in sizes for symbol in used_symbols_of(size)})
            if not used or not sound.issuperset(used) or not is_value_type(region.type.inputs[index]):
                continue
            if any(divides_below_zero(size, ranges) for size in sizes):
                continue
            for symbol in used:
                if symbol not in indices:
                    indices[symbol] = len(made)
                    least, most = map(i64, ranges[symbol])
                    stated_as = {"symbol_name": ir.StringAttr.get(f"s{len(made)}"), "min_val": least, "max_val": most}
                    number = ir.Operation.create("torch.symbolic_int", [torch_type("int")], attributes=stated_as)
                    made.append(number.result)
            own = {symbol: number for number, symbol in enumerate(used)}
            shapes = ir.AffineMap.get(0, len(used), [renumbered(size, own) for size in sizes])
            operands = [arguments(main)[index], *(made[indices[symbol]] for symbol in used)]
            attributes = {"shape_expressions": ir.AffineMapAttr.get(shapes)}
            ir.Operation.create("torch.bind_symbolic_shape", operands=operands, attributes=attributes)


def _as_iree_bounds(stated: Stated, ranges: Mapping[int, Range]) -> tuple[Stated, dict[int, Range]]:
    """The sizes with symbols for those that IREE would bound wrongly, and the ranges of these symbols as well."""
    known, ones = dict(ranges), {symbol: (1, most) for symbol, (_, most) in ranges.items()}
    used = {symbol for sizes in stated.values() for size in sizes for symbol in used_symbols_of(size)}
    unused = count(max(used.union(ranges), default=-1) + 1)
    others: dict[str, ir.AffineExpr] = {}

    def symbol_for(size: ir.AffineExpr) -> ir.AffineExpr:
        if bounds(size, ones)[0] >= 0 and not has_remainder(size):
            return size
        if str(size) not in others:
            number = next(unused)
            known[number] = bounds(size, ranges)
            others[str(size)] = ir.AffineExpr.get_symbol(number)
        return others[str(size)]

    return {index: tuple(map(symbol_for, sizes)) for index, sizes in stated.items()}, known
