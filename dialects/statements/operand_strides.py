"""`dovetail.strides`: how an op wants its operands to lie in memory, where that may make a difference.

Values have no memory, so passes may drop a copy that lays a tensor out anew. What sees memory, or may see it, says
itself what it is given: the strides, in elements, that eager gives it. In the backward these may hang on how the
caller's gradients lie; then it says which result of `@layouts` tells them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from torch_mlir import ir

from dovetail.dialects.attributes import STRIDES
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.reading import made_by
from dovetail.dialects.sizes.size_expressions import is_sound
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.ops import aten_name, row
from dovetail.dialects.torch_facts.strides import Strides
from dovetail.dialects.torch_facts.types import is_value_type, shaped_info
from dovetail.errors import ModuleError


@dataclass(frozen=True)
class Followed:
    """The strides of a result of `@layouts`, by its number."""

    number: int


Stated: TypeAlias = "Strides | Followed | ir.Attribute | tuple[Stated, ...] | None"
"""A map gives strides by the module's symbols, where some are open."""


def is_opaque(op: ir.Operation) -> bool:
    """Whether `op` takes values, and may tell how they lie in memory."""
    return row(op).sees_strides and aten_name(op) is not None and any(map(_holds_values, op.operands))


def strides_attribute(stated: Sequence[Stated]) -> ir.ArrayAttr:
    """The attribute that states these strides, None standing for what is no value."""
    return ir.ArrayAttr.get([_entry(each) for each in stated])


def stated_strides(op: ir.Operation) -> list[ir.Attribute | None]:
    """What `op` states of each operand, None for what may lie as it likes.

    Raises:
        ModuleError: for a statement that does not fit the operands, saying which.
    """
    if STRIDES not in op.attributes:
        return [None] * len(op.operands)
    broken = broken_statement(op)
    if broken:
        raise ModuleError(broken)
    return [None if isinstance(each, ir.UnitAttr) else each for each in ir.ArrayAttr(op.attributes[STRIDES])]


def followed(op: ir.Operation) -> set[int]:
    """The results of `@layouts` that operands of `op` lie as, by number."""
    return set(_numbers(op.attributes[STRIDES])) if STRIDES in op.attributes else set()


def _numbers(entry: ir.Attribute) -> Iterator[int]:
    if isinstance(entry, ir.IntegerAttr):
        yield entry.value
    elif isinstance(entry, ir.ArrayAttr):
        for each in entry:
            yield from _numbers(each)


def broken_statement(op: ir.Operation) -> str:
    """What is wrong with what `op` states, in a verifier's words; "" if nothing is."""
    if STRIDES not in op.attributes:
        return f"may see how its operands lie in memory, expected '{STRIDES}'" if is_opaque(op) else ""
    stated = op.attributes[STRIDES]
    if not isinstance(stated, ir.ArrayAttr) or len(stated) != len(op.operands):
        return f"expects '{STRIDES}' to have an entry for each of {len(op.operands)} operands, got {stated}"
    for index, (entry, value) in enumerate(zip(stated, op.operands, strict=True)):
        # What never sees how its operands lie may be faster where some of them lie so.
        may_differ = isinstance(entry, ir.UnitAttr) and not is_opaque(op)
        if not may_differ and not _fits(entry, value):
            return f"expects '{STRIDES}' to state the strides of operand {index}, '{value.type}', got {entry}"
    return ""


def _entry(stated: Stated) -> ir.Attribute:
    if stated is None:
        return ir.UnitAttr.get()
    if isinstance(stated, Followed):
        return i64(stated.number)
    if isinstance(stated, ir.Attribute):
        return stated
    if any(not isinstance(each, int) for each in stated):
        return strides_attribute(stated)
    return ir.DenseI64ArrayAttr.get(stated)


def _fits(entry: ir.Attribute, value: ir.Value) -> bool:
    if not _holds_values(value):
        return isinstance(entry, ir.UnitAttr)
    if _is_list(value):
        parts = list(value.owner.operation.operands)
        is_whole = isinstance(entry, ir.ArrayAttr) and len(entry) == len(parts)
        return is_whole and all(_fits(each, part) for each, part in zip(entry, parts, strict=True))
    if isinstance(entry, ir.IntegerAttr):
        return entry.value >= 0
    info = shaped_info(value.type)
    if isinstance(entry, ir.AffineMapAttr):
        strides = list(entry.value.results)
        return info is not None and len(strides) == len(info.shape) and all(map(is_sound, strides))
    is_array = isinstance(entry, ir.DenseI64ArrayAttr)
    return is_array and info is not None and len(entry) == len(info.shape) and all(each >= 0 for each in entry)


def _holds_values(value: ir.Value) -> bool:
    """Whether `value` is a tensor without memory, or a list in which one is."""
    if _is_list(value):
        return any(map(_holds_values, value.owner.operation.operands))
    return is_value_type(value.type)


def _is_list(value: ir.Value) -> bool:
    return made_by(value, LIST) is not None
