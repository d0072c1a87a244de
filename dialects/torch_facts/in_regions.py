"""What may stand in a region: what regions compute, and what they gather from where it surely is."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from torch_mlir import ir

from dovetail.dialects.torch_facts.numbers import number
from dovetail.dialects.torch_facts.ops import kind
from dovetail.dialects.torch_facts.ranges import Range, range_of
from dovetail.dialects.torch_facts.reshapes import is_part
from dovetail.dialects.torch_facts.row import IN_REGIONS, Kind
from dovetail.dialects.torch_facts.sizes import OpenSize, print_sizes
from dovetail.dialects.torch_facts.types import shaped_info, tensor_info

GATHERS = "torch.aten.index_select"
"""The op by which regions gather: the second of three dimensions, whole pixels of images that lie channels last."""
CHECKED_GATHER = "torch.aten.gather"
"""The op by which regions for GPUs gather one number of each row, at positions that their kernels check."""
_ALONG = 1
_GATHERED = ("float32", "float16", "bfloat16")
_MOST_CHECKED = 2**32
"""How long rows are whose positions a kernel checks, at most."""
_INDEX = 2
"""The position of its operand that says where it reads."""
_INSIDE = (*IN_REGIONS, Kind.CONSTANT, Kind.VIEW)


def may_stand_in_regions(op: ir.Operation, device: str) -> bool:
    """Whether regions of a type of `device` may hold `op`: no library's, but a GPU's gathers.

    Compiled code gathers pixels without the check that ATen makes, so what is not proved here would read any memory.
    Where it gathers one number of each row, kernels check as ATen's do.
    """
    return kind(op) in _INSIDE or (device == "cuda" and op.name in _RULES and not broken_gather(op))


def broken_sizes(op: ir.Operation) -> str:
    """What is wrong with the sizes of a pointwise op in a region, and what would be valid; "" if nothing is.

    Of more elements than its operands have, IREE makes none, and needs minutes to say so.
    """
    if kind(op) is not Kind.POINTWISE:
        return ""
    infos = [shaped_info(each.type) for each in op.operands]
    shapes, made = [info.shape for info in infos if info], shaped_info(op.results[0].type) if op.results else None
    if made is None or not shapes:
        return ""
    columns = zip_longest(*map(reversed, shapes), fillvalue=1)
    expected = [_broadcast(column) for column in columns][::-1]
    is_valid = len(expected) == len(made.shape) and all(map(_may_be, made.shape, expected))
    operands = ", ".join(f"({print_sizes(shape)})" for shape in shapes)
    made_of = f"makes sizes ({print_sizes(made.shape)}) of operands of sizes {operands}"
    return "" if is_valid else f"{made_of}, expected sizes to which these can be broadcast, and no larger ones"


def _broadcast(sizes: Sequence[OpenSize]) -> tuple[OpenSize, ...]:
    """What the size of a result may be along a dimension of operands; None for any."""
    numbers = {each for each in sizes if each != 1}
    known = numbers - {None}
    return tuple(known or numbers or {1})


def _may_be(size: OpenSize, valid: Sequence[OpenSize]) -> bool:
    return valid == (None,) or (len(valid) == 1 and size in (None, *valid))


def positions(ops: Iterable[ir.Operation]) -> set[ir.Value]:
    """Where the gathers among `ops` read.

    A region that gathers computes this itself: of its arguments nobody sees that they are within range.
    """
    return {op.operands[_INDEX] for op in ops if op.name == GATHERS}


def broken_gather(op: ir.Operation) -> str:
    """What is wrong with a gather in a region for a GPU, and what would be valid; "" if nothing is, or `op` is none.

    Of a slice IREE's kernels read the memory as if it were all of it: rows begin elsewhere.
    """
    if op.name not in _RULES:
        return ""
    if is_part(op.operands[0]):
        return "gathers from a part of a tensor in a region, expected one that lies row by row in memory"
    return _RULES[op.name](op)


def _broken_check(op: ir.Operation) -> str:
    source, index, result = (tensor_info(each.type) for each in (op.operands[0], op.operands[2], op.results[0]))
    if source is None or index is None or result is None or len(source.shape) != 2 or number(op.operands[1]) != _ALONG:
        return f"gathers in a region, expected it along dimension {_ALONG} of two of known sizes"
    rows, length = source.shape
    if source.dtype not in _GATHERED or result.dtype != source.dtype or index.dtype != "int64":
        return f"gathers {source.dtype} by {index.dtype} in a region, expected {' or '.join(_GATHERED)} by int64"
    if not index.shape == result.shape == (rows, 1) or not 0 < length < _MOST_CHECKED:
        return f"gathers '{op.results[0].type}' in a region, expected one number of each of {rows} rows that have some"
    return ""


def _broken_unchecked(op: ir.Operation) -> str:
    source, index, result = (tensor_info(each.type) for each in (op.operands[0], op.operands[_INDEX], op.results[0]))
    if source is None or index is None or result is None or len(source.shape) != 3 or number(op.operands[1]) != _ALONG:
        return f"gathers in a region, expected it along dimension {_ALONG} of three of known sizes"
    if result.shape != (source.shape[0], *index.shape, source.shape[2]) or len(index.shape) != 1:
        return f"gathers '{op.results[0].type}' in a region, expected a result of the shape of its operands"
    valid, found = Range(0, source.shape[_ALONG] - 1), range_of(op.operands[_INDEX])
    if found is None or not valid.holds(found):
        got = "some of which nothing is known" if found is None else f"such from {found.least} to {found.most}"
        return f"gathers in a region, unchecked: expected indices that surely lie from 0 to {valid.most}, got {got}"
    return ""


_RULES = {GATHERS: _broken_unchecked, CHECKED_GATHER: _broken_check}
