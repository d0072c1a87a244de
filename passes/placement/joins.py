"""Tensors that are joined row by row, and what is computed for that alone: ATen's work, without a copy before it."""

from collections.abc import Sequence
from math import prod

from torch_mlir import ir

from dovetail.backends.target import WIDE_BITS
from dovetail.dialects.dovetail import ReadOp, RefType
from dovetail.dialects.memory.roots import is_view, memory_path, memory_root
from dovetail.dialects.reading import is_used, made_by, producer, users
from dovetail.dialects.sizes.expected import expected_info
from dovetail.dialects.sizes.symbols import elements
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.ops import Kind, aten_name, kind, row
from dovetail.dialects.torch_facts.out_overloads import out_overload
from dovetail.dialects.torch_facts.row import Joins
from dovetail.dialects.torch_facts.transposition import SMALLEST, reorders
from dovetail.dialects.torch_facts.types import TensorInfo, require_shaped_info, shaped_info, tensor_info
from dovetail.passes.placement.iree_support import refusal_of
from dovetail.passes.placement.scattered_views import is_scattered
from dovetail.passes.rewriting.constants import integer
from dovetail.passes.rewriting.rules import shape
from dovetail.passes.rewriting.slices import slice_of

_MOST_PARTS = 8
"""That have a launch each; ATen joins any number by one."""
_MOST_CHOICES = 4
"""Parts of which a kernel computes each element, to write one of them."""
_LONGEST_CHOICE = 1024
"""Numbers of each part that lie next to each other: a workgroup then reads what its neighbours do not."""
_LONG_PART = 64
"""Numbers of a part of a row from which a CPU's loop over them pays."""
_SCATTER = "aten.slice_scatter.default"
"""The library call that writes a slice where it belongs."""


def joins_rows(op: ir.Operation) -> bool:
    """Whether the operands of a concatenation lie in turns in its result: it is not along the outermost dimension."""
    result, dim = shaped_info(op.results[0].type), integer(op.operands[1])
    if result is None or dim is None or not result.shape:
        return False
    return any(size != 1 for size in result.shape[: dim % len(result.shape)])


def copies_arguments(op: ir.Operation) -> bool:
    """Whether `op` joins arguments as they are, for library calls alone: one launch of ATen's, several of a region."""
    listed = producer(op.operands[0])
    is_given = listed is not None and all(made_by(value, ReadOp.OPERATION_NAME) for value in listed.operands)
    return is_given and _is_for_libraries(op)


def _is_for_libraries(op: ir.Operation) -> bool:
    takers = users(*op.results)
    return all(kind(each) is Kind.LIBRARY or (is_view(each) and _is_for_libraries(each)) for each in takers)


def _joined_floats(op: ir.Operation) -> tuple[TensorInfo, int, Sequence[ir.Value]] | None:
    """The result of an op that joins floats, along which dimension, and the parts; None of others, or of open sizes."""
    if row(op).joins is not Joins.ALONG:
        return None
    result, dim = tensor_info(op.results[0].type), integer(op.operands[1])
    listed = producer(op.operands[0])
    if result is None or dim is None or listed is None or not result.is_floating_point:
        return None
    return result, dim, list(listed.operands)


def kernels_write_parts(op: ir.Operation, device: str) -> bool:
    """Whether kernels compute all that `op` joins, for it alone, and can write it where it is joined.

    They write vectors of 16 bytes, so that each part of a row must be of such. On a CPU rows are long, and parts are
    computed of what the host has: else some part might be another region's, and IREE copies single elements.
    """
    join = _joined_floats(op)
    if join is None:
        return False
    result, dim, parts = join
    infos = [tensor_info(value.type) for value in parts]
    made = [producer(value) for value in parts]
    if not 2 <= len(infos) <= _MOST_PARTS or result.itemsize > 4 or result.numel < SMALLEST:
        return False
    return all(
        info is not None
        and (info.dtype, prod(info.shape[dim:]) * info.itemsize % 16) == (result.dtype, 0)
        and (op is not None and kind(op) is Kind.POINTWISE and len(users(*op.results)) == 1)
        and (device != "cpu" or (prod(info.shape[dim:]) >= _LONG_PART and _is_one_loop(op)))
        for info, op in zip(infos, made, strict=True)
    )


def _is_one_loop(op: ir.Operation) -> bool:
    """Whether a region can compute `op` of what the host has, which it reads row by row."""
    taken = [value for value in op.operands if shaped_info(value.type) is not None]
    scattered = [made for made in map(producer, taken) if made is not None and is_scattered(made)]
    is_read_in_rows = all(_is_shown(value) and _lies_in_rows(value) for value in taken)
    return is_read_in_rows and all(map(_is_in_wide_numbers, scattered)) and not refusal_of(op, "cpu")


def is_read_in_wide_numbers(view: ir.Operation) -> bool:
    """Whether `view` takes one of each few numbers of a row, all for parts of a concatenation that kernels write."""
    if not _is_in_wide_numbers(view):
        return False
    joins = [_joins(op) for op in users(*view.results)]
    return bool(joins) and all(each and all(kernels_write_parts(join, "cpu") for join in each) for each in joins)


def _is_in_wide_numbers(view: ir.Operation) -> bool:
    """Whether `view` takes one of each few numbers of a row, which are as one number that a register holds."""
    taken = slice_of(view.results[0])
    if taken is None:
        return False
    sizes, bits = shape(taken.base), require_shaped_info(view.results[0].type).itemsize * 8 * taken.step
    return taken.dim == len(sizes) - 1 and bits in WIDE_BITS and taken.count * taken.step == sizes[-1]


def selects_parts(op: ir.Operation, device: str) -> bool:
    """Whether a kernel that computes on had better choose between what `op` joins, element by element.

    Parts are short, of one size, and of whole vectors of 16 bytes; some pointwise op takes the result, or, on a
    GPU, computes one: what a CPU computes for a join alone is written in place.
    """
    join = _joined_floats(op)
    if join is None:
        return False
    result, dim, parts = join
    infos = [tensor_info(value.type) for value in parts]
    first = infos[0] if infos else None
    if not 2 <= len(infos) <= _MOST_CHOICES or first is None or first.dtype != result.dtype:
        return False
    length = prod(first.shape[dim:])
    if any(each != first for each in infos) or length * first.itemsize % 16 or not 0 < length <= _LONGEST_CHOICE:
        return False
    others = [*users(*op.results), *(map(producer, parts) if device == "cuda" else ())]
    return any(each is not None and kind(each) is Kind.POINTWISE for each in others)


def is_filled_for_scatters(op: ir.Operation) -> bool:
    """Whether `op` fills large memory only to have slices scattered into it, which ATen does."""
    return row(op).is_fill and _is_large(op) and _is_scattered(op, 0)


def is_computed_for_a_join(op: ir.Operation) -> bool:
    """Whether a region would hold nothing but `op`, a pointwise op that ATen then joins by rows or scatters.

    And whether ATen saves a copy: it reads a view with steps where it lies; for a region, that is copied. A large
    result it writes where it is joined.
    """
    if kind(op) is not Kind.POINTWISE or not (_is_joined(op) or _is_scattered(op, 1)):
        return False
    if all(kernels_write_parts(join, "cpu") for join in _joins(op)) and _is_joined(op):
        return False
    taken = [value for value in op.operands if shaped_info(value.type) is not None]
    if not all(map(_is_shown, taken)):
        return False
    if any(made is not None and is_scattered(made) for made in map(producer, taken)):
        return True
    # It can write its result to where that is joined with others, and this pays.
    name = aten_name(op)
    return _is_large(op) and name is not None and out_overload(name) is not None


def is_a_copied_slice(op: ir.Operation) -> bool:
    """Whether `op` copies a large slice of what the host has; what is whole is copied by blocks of memory."""
    made = producer(op.operands[0])
    if made is None or kind(made) is not Kind.VIEW:
        return False
    return _is_shown(op.operands[0]) and _is_large(op) and not _is_whole(made)


def _is_large(op: ir.Operation) -> bool:
    info = expected_info(op.results[0])
    return info is not None and info.numel >= SMALLEST


def _is_whole(view: ir.Operation) -> bool:
    """Whether `view` shows all elements of its operand, once."""
    return elements(view.results[0]) == elements(view.operands[0]) is not None


def _is_joined(op: ir.Operation) -> bool:
    """Whether all that uses `op` joins it by rows."""
    if any(each.name != LIST for each in users(*op.results)):
        return False
    joins = _joins(op)
    return bool(joins) and all(row(each).joins is not Joins.NOT and joins_rows(each) for each in joins)


def _joins(op: ir.Operation) -> list[ir.Operation]:
    """What uses the lists that `op` stands in."""
    return [join for each in users(*op.results) if each.name == LIST for join in users(*each.results)]


def _is_scattered(op: ir.Operation, position: int) -> bool:
    """Whether all that uses `op` are library calls that scatter a slice, of which it is that operand."""
    return is_used(op.results[0]) and all(
        is_extern(user := use.owner.operation) and aten_name(user) == _SCATTER and use.operand_number == position
        for use in op.results[0].uses
    )


def _is_shown(value: ir.Value) -> bool:
    """Whether the host has `value` without a region's work, and in the order of its rows."""
    return isinstance(memory_root(value).owner, ir.Block) and not any(map(reorders, memory_path(value)))


def _lies_in_rows(value: ir.Value) -> bool:
    """Whether the memory that shows `value` lies row by row, so that a region takes it where it lies."""
    type_ = memory_root(value).type
    return not isinstance(type_, RefType) or RefType(type_).is_row_major
