"""Pass `fold-concatenations`: what a write to a slice leaves of the rest."""

from dataclasses import replace

from torch_mlir import ir

from dovetail.dialects.reading import made_by
from dovetail.passes.base import Pass
from dovetail.passes.cleanup.concatenations import CAT, concatenated, parts_of, turned
from dovetail.passes.rewriting.constants import constant, integer
from dovetail.passes.rewriting.permutations import PERMUTE
from dovetail.passes.rewriting.rules import apply_rules, create, shape
from dovetail.passes.rewriting.slices import SLICE, Slice, slice_of

_SELECT = "torch.aten.select.int"


class FoldConcatenationsPass(Pass, name="fold-concatenations", runs_at="joint"):
    """Takes slices of a concatenation from the part that they lie in; joins parts that are neighbours in one tensor.

    An update of a slice in place is imported as the concatenation of what lies before it, the new values and what lies
    behind. So the next update's reads are of the new values or of the tensor as it was, and a slice that is put back
    where it was is the tensor.

    A concatenation along an inner dimension that is only read in another order, and whose parts no region computes, is
    built in that order: else it would be copied twice.

    Before:  `%c = cat [%x[0:1], %v, %x[3:4]]; %1 = slice %c[1:3]; %2 = slice %c[3:4]; %d = cat [%x[0:1], %x[1:4]]`
    After:   `%v` for `%1`, `slice %x[3:4]` for `%2`, `%x` for `%d`
    """

    def run(self, module: ir.Module) -> bool:
        return apply_rules(module, {CAT: _cat, SLICE: _slice, _SELECT: _select, PERMUTE: turned})


def _cat(op: ir.Operation) -> ir.Value | None:
    known = parts_of(op)
    if known is None:
        return None
    parts, dim = known
    joined: list[ir.Value | Slice] = []
    for part in parts:
        found, last = slice_of(part), joined[-1] if joined else None
        piece = part if found is None or found.dim != dim or found.step != 1 else found
        if isinstance(last, Slice) and isinstance(piece, Slice) and (last.base, last.stop) == (piece.base, piece.start):
            joined[-1] = replace(last, count=last.count + piece.count)
        else:
            joined.append(piece)
    if len(joined) == len(parts) > 1:
        return None
    values = [each.build() if isinstance(each, Slice) else each for each in joined]
    result = op.results[0]
    if len(values) == 1:
        return values[0] if values[0].type == result.type else None
    return concatenated(values, dim, result.type)


def _slice(op: ir.Operation) -> ir.Value | None:
    wanted = slice_of(op.results[0])
    if wanted is None:
        return None
    found = _source(wanted)
    return None if found == wanted else found.build()


def _source(wanted: Slice) -> Slice:
    """`wanted` as a slice of the innermost tensor in which it lies whole."""
    inner = slice_of(wanted.base)
    if inner is not None and inner.dim == wanted.dim:
        return _source(inner.sliced(wanted))
    part = _part(wanted)
    return wanted if part is None else _source(part)


def _part(wanted: Slice) -> Slice | None:
    """`wanted`, if its base is a concatenation, as a slice of the part that holds all of it."""
    cat = made_by(wanted.base, CAT)
    found = None if cat is None or not wanted.count else parts_of(cat)
    if found is None or found[1] != wanted.dim:
        return None
    begin = 0
    for part in found[0]:
        end = begin + shape(part)[wanted.dim]
        if begin <= wanted.start and wanted.stop <= end:
            return replace(wanted, base=part, start=wanted.start - begin)
        begin = end
    return None


def _select(op: ir.Operation) -> ir.Value | None:
    base, *numbers = op.operands
    dim, index = map(integer, numbers)
    if dim is None or index is None:
        return None
    dim %= len(shape(base))
    wanted = Slice(base, dim, index % shape(base)[dim], 1, 1)
    found = _source(wanted)
    if found == wanted:
        return None
    return create(_SELECT, [found.base, constant(dim), constant(found.start)], op.results[0].type)
