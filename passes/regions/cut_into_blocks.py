"""Pass `cut-into-blocks`: regions whose loops reach tensors across their rows, or that IREE would make so."""

from collections.abc import Iterator, Sequence
from math import prod

from torch_mlir import ir

from dovetail.backends.target import SINGLE_ROWS
from dovetail.dialects.attributes import VARIANT
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import Module, body, operand_ops, users
from dovetail.dialects.sizes.symbols import known_sizes
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.row import Joins
from dovetail.dialects.torch_facts.transposition import is_transposition, reordered
from dovetail.dialects.torch_facts.types import require_shaped_info, shaped_info, tensor_info
from dovetail.passes.base import Pass
from dovetail.passes.placement.joins import joins_rows
from dovetail.passes.rewriting.sums import MEANS, SUM, reduced_dims

_LONG = 64
"""Columns from which blocks of them pay."""

_LARGE = 1 << 19
"""Elements of known sizes from which this pays the compiler's processes that a variant has to itself."""


class CutIntoBlocksPass(Pass, name="cut-into-blocks", runs_at="regions"):
    """States the variant `by-blocks` of regions for a CPU that compute elements alone, some of transposed tensors.

    Their loops read and write blocks, so that what is transposed needs no memory. Other ops IREE may merge with a
    transposition into loops that have no such blocks. Sums of columns go so, too, where nothing is transposed, rows
    that are summed and computed, of open length or some hundred numbers, and loops over rows that take fewer elements
    of some tensor, which IREE can't make one loop over all elements. Where rows are joined the variant is `by-parts`:
    what computes a part writes it where it belongs.

    Before:  `func @region(...) attributes {dovetail.role = "region"} { ...; %t = permute %x; %s = add %t, %y; ... }`
    After:   `func @region(...) attributes {dovetail.role = "region", dovetail.variant = "by-blocks"} { ... }`
    """

    def run(self, module: ir.Module) -> bool:
        if device_type(module) != "cpu":
            return False
        regions = [each for each in Module(module).regions.values() if VARIANT not in each.attributes]
        cut = [(region, variant) for region in regions if (variant := _variant(body(region)))]
        for region, variant in cut:
            region.attributes[VARIANT] = ir.StringAttr.get(variant, region.context)
        return bool(cut)


def _variant(ops: Sequence[ir.Operation]) -> str:
    """What loops of `ops` go by; "" where they go as IREE has them."""
    if any(row(op).joins is Joins.ALONG and joins_rows(op) for op in ops):
        return "by-parts"
    return "by-blocks" if _goes_by_blocks(ops) else ""


def _goes_by_blocks(ops: Sequence[ir.Operation]) -> bool:
    groups = [_group(op) for op in ops if is_transposition(op)]
    merged = [group for group in groups if len(group) > 1]
    return all(map(_has_blocks, merged)) and (bool(merged) or (not groups and _has_rows(ops)))


def _has_rows(ops: Sequence[ir.Operation]) -> bool:
    """Whether `ops` add up columns or open rows, compute rows by sums of these, or repeat what else they take."""
    if any(map(_adds_columns, ops)) or any(map(_adds_open_rows, ops)):
        return True
    if any(map(_takes_single_rows, ops)) and any(map(_computes_single_rows, ops)):
        return True
    return any(map(_repeats, ops)) and not any(kind(op) is Kind.REDUCTION for op in ops)


def _repeats(op: ir.Operation) -> bool:
    """Whether `op` computes long rows of what may be a large tensor, of an operand that it repeats."""
    if kind(op) is not Kind.POINTWISE:
        return False
    known, shape = tensor_info(op.results[0].type), require_shaped_info(op.results[0].type).shape
    if known is not None and known.numel < _LARGE:
        return False
    if len(shape) < 2 or (shape[-1] is not None and shape[-1] < _LONG):
        return False
    taken = [info.shape for value in op.operands if (info := shaped_info(value.type)) is not None]
    return any(each != shape and any(size != 1 for size in each) for each in taken)


def _takes_single_rows(op: ir.Operation) -> bool:
    """Whether `op` takes together the numbers of such rows."""
    if kind(op) is not Kind.REDUCTION:
        return False
    return _has_single_rows(op.operands[0]) and reduced_dims(op) == [
        len(require_shaped_info(op.operands[0].type).shape) - 1
    ]


def _computes_single_rows(op: ir.Operation) -> bool:
    return kind(op) is Kind.POINTWISE and _has_single_rows(op.results[0])


def _has_single_rows(value: ir.Value) -> bool:
    """Whether rows had better go one by one: of open length, or a large tensor's and neither short nor long."""
    shape, known = require_shaped_info(value.type).shape, tensor_info(value.type)
    if len(shape) < 2 or shape[-1] is None:
        return len(shape) > 1
    return shape[-1] in SINGLE_ROWS and (known is None or known.numel >= _LARGE)


def _adds_open_rows(op: ir.Operation) -> bool:
    """Whether `op` adds up rows of open length."""
    if op.name not in (SUM, MEANS[0]):
        return False
    shape = require_shaped_info(op.operands[0].type).shape
    return len(shape) > 1 and shape[-1] is None and reduced_dims(op) == [len(shape) - 1]


def _adds_columns(op: ir.Operation) -> bool:
    """Whether `op` adds up, of a tensor that may be large, other dimensions than a long innermost one."""
    dims = reduced_dims(op) if op.name in (SUM, MEANS[0]) else None
    if dims is None:
        return False
    known, shape = tensor_info(op.operands[0].type), require_shaped_info(op.operands[0].type).shape
    is_small = known is not None and known.numel < _LARGE
    return not is_small and (shape[-1] is None or shape[-1] >= _LONG) and len(shape) - 1 not in dims


def _group(op: ir.Operation) -> list[ir.Operation]:
    """`op`, and what in its region computes one of its operands or uses its results, and so on."""

    def neighbours(found: ir.Operation) -> Iterator[ir.Operation]:
        beside = (*operand_ops(found), *users(*found.results))
        return (each for each in beside if each.name.startswith("torch.aten."))

    return [op, *(reachable([op], neighbours) - {op})]


def _has_blocks(group: Sequence[ir.Operation]) -> bool:
    """Whether `group` computes elements, and turns tensors in one way; none is larger than those."""
    turning = [op for op in group if is_transposition(op)]
    if {kind(op) for op in group if op not in turning} != {Kind.POINTWISE}:
        return False  # some of which give lists of tensors
    counts = {_count(op.results[0]) for op in group}
    whole = _count(turning[0].results[0])
    return (
        whole is not None
        and all(each == whole or (isinstance(each, int) and isinstance(whole, int) and each < whole) for each in counts)
        and len({reordered(op) for op in turning}) == 1
    )


def _count(value: ir.Value) -> int | tuple[str, ...] | None:
    """How many elements a tensor has; of open sizes, what multiplies to it."""
    sizes = known_sizes(value)
    if sizes is None:
        return None
    known = [size for size in sizes if isinstance(size, int)]
    return prod(known) if len(known) == len(sizes) else tuple(sorted(str(size) for size in sizes if size != 1))
