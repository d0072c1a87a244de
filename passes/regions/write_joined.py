"""Pass `write-joined`: what ATen computes to join it is written where the joined tensor lies."""

from functools import reduce

from torch_mlir import ir

from dovetail.dialects.building.region_builder import new_memory
from dovetail.dialects.reading import made_by
from dovetail.dialects.sizes.expected import expected_info
from dovetail.dialects.sizes.symbols import KnownSize, known_sizes, state_sizes
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.transposition import SMALLEST
from dovetail.dialects.torch_facts.types import require_shaped_info, shaped_info
from dovetail.passes.base import Pass
from dovetail.passes.regions.given_memory import can_write, give, give_part, library_calls, sizes_by
from dovetail.passes.rewriting.constants import integer


class WriteJoinedPass(Pass, name="write-joined", runs_at="regions"):
    """Gives pointwise library calls a part of the memory of the large concatenation that alone uses their results.

    The concatenation then copies only what else it joins.

    Before:  `%1 = aten.exp(%x); %l = list(%1, %y); %2 = aten.cat(%l, %dim)`
    After:   `%m = alloc; %p = part %m; aten.exp(%x, %p); %1 = torch.copy.to_vtensor %p; %l = list(%1, %y);
             aten.cat(%l, %dim, %m); %2 = torch.copy.to_vtensor %m`
    """

    def run(self, module: ir.Module) -> bool:
        if device_type(module) != "cpu":
            return False
        joins = [op for op, known in library_calls(module, "aten.cat.default") if _is_even(op, known)]
        written = [op for op in joins if _write(op)]
        return bool(written)


def _is_even(cat: ir.Operation, known: set[int]) -> bool:
    """Whether `cat` is large, along a known dimension, of tensors of its own element type, and whose sizes fill it.

    Sizes are told by the symbols that are `known`.
    """
    listed, result, dim = made_by(cat.operands[0], LIST), expected_info(cat.results[0]), integer(cat.operands[1])
    if listed is None or result is None or result.numel < SMALLEST or dim is None:
        return False
    infos = [shaped_info(value.type) for value in listed.operands]
    if not all(info is not None and info.dtype == result.dtype for info in infos):
        return False
    across = _across(cat.results[0], dim, known)
    return across is not None and all(_across(value, dim, known) == across for value in listed.operands)


def _across(value: ir.Value, dim: int, known: set[int]) -> list[KnownSize] | None:
    """The sizes of `value` but for that along `dim`; None where the symbols that are `known` do not say its sizes."""
    sizes = sizes_by(value, known)
    return [size for index, size in enumerate(sizes) if index != dim % len(sizes)] if sizes else None


def _write(cat: ir.Operation) -> bool:
    """Has what can write its part of `cat` do so, if anything can; the memory is there before the first of them."""
    values = list(cat.operands[0].owner.operands)
    writers = [value.owner.operation for value in values if can_write(value)]
    if not writers:
        return False
    dim = (integer(cat.operands[1]) or 0) % len(require_shaped_info(cat.results[0].type).shape)
    first = reduce(lambda one, other: one if one.is_before_in_block(other) else other, writers)
    with cat.location, ir.InsertionPoint(first):
        memory = state_sizes(new_memory(cat.results[0]), cat.results[0])
    start: KnownSize = 0
    for value in values:
        length = (known_sizes(value) or ())[dim]
        if can_write(value):
            give_part(value, memory, dim, start)
        start = start + length
    give(cat, memory)
    return True
