"""What is written to parts of memory, and joined there, in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch_mlir import ir

from dovetail.backends.python.memory import filled
from dovetail.dialects.dovetail import PartOp
from dovetail.dialects.torch_facts.row import WritesInto
from dovetail.dialects.torch_facts.types import require_shaped_info
from dovetail.errors import ModuleError

if TYPE_CHECKING:
    from dovetail.backends.python.emitter import Emitter


def part_of(memory: torch.Tensor, dim: int, start: int, length: int, step: int = 1) -> torch.Tensor:
    """What is written to a part does not move the version of `memory`, which is a result that nobody has seen."""
    if not length:
        return memory.data.narrow(dim, 0, 0)  # as slices may, it starts beyond the end
    if step == 1:
        return memory.data.narrow(dim, start, length)
    return torch.ops.aten.slice.Tensor(memory.data, dim, start, start + length * step, step)


def emit_part(emitter: Emitter, op: PartOp) -> None:
    length = require_shaped_info(op.part.type).shape[op.dimension]
    taken = [str(op.dimension), *filled(emitter, (op.first, length), op.numbers)]
    taken += [str(op.stride)] if op.stride != 1 else []
    emitter.line(
        f"{emitter.name(op.part)} = {emitter.bind('part_of', part_of)}({emitter.name(op.memory)}, {', '.join(taken)})"
    )


def join(tensors: Sequence[torch.Tensor], dim: int, memory: torch.Tensor) -> None:
    """Copies to `memory` the `tensors` that are joined there along `dim`, but for what lies there.

    Raises:
        ModuleError: if they do not fill it.
    """
    dim, start = dim % memory.dim(), 0
    for tensor in tensors:
        _put(tensor, part_of(memory, dim, start, tensor.size(dim)))
        start += tensor.size(dim)
    if start != memory.size(dim):
        raise ModuleError(f"{start} numbers are joined in memory for {memory.size(dim)}")


def scatter(
    base: torch.Tensor,
    source: torch.Tensor,
    dim: int,
    start: int | None,
    end: int | None,
    step: int,
    memory: torch.Tensor,
) -> None:
    """Copies `source` to the slice of `memory`, which holds `base`, unless it lies there.

    Raises:
        ModuleError: if `base` lies elsewhere, or the slice has other sizes.
    """
    if not _lies_in(base, memory):
        raise ModuleError("what a slice is scattered into lies in other memory than the result")
    _put(source, torch.ops.aten.slice.Tensor(memory.data, dim, start, end, step))


def add_rows(
    base: torch.Tensor, dim: int, index: torch.Tensor, source: torch.Tensor, alpha: float, memory: torch.Tensor
) -> None:
    """Adds `alpha` times the slices of `source` along `dim` to those of `memory`, which holds `base`, at `index`.

    Raises:
        ModuleError: if `base` lies elsewhere.
    """
    if not _lies_in(base, memory):
        raise ModuleError("what rows are added to lies in other memory than the result")
    memory.data.index_add_(dim, index, source, alpha=alpha)


def _put(tensor: torch.Tensor, into: torch.Tensor) -> None:
    if into.shape != tensor.shape:
        raise ModuleError(f"{list(tensor.shape)} is written where memory of {list(into.shape)} is")
    if not _lies_in(tensor, into):
        into.copy_(tensor)


def _lies_in(tensor: torch.Tensor, into: torch.Tensor) -> bool:
    return (into.data_ptr(), into.stride()) == (tensor.data_ptr(), tensor.stride())


def _emits(write: Callable[..., None]) -> Callable[..., None]:
    def emit(emitter: Emitter, *operands: ir.Value) -> None:
        emitter.line(f"{emitter.bind(write.__name__, write)}({', '.join(map(emitter.name, operands))})")

    return emit


def _emit_fill(emitter: Emitter, size: ir.Value, number: ir.Value, *others: ir.Value) -> None:
    emitter.line(f"{emitter.name(others[-1])}.data.fill_({emitter.name(number)})")


INTO: dict[WritesInto, Callable[..., None]] = {
    WritesInto.JOIN: _emits(join),
    WritesInto.FILL: _emit_fill,
    WritesInto.ADD_ROWS: _emits(add_rows),
    WritesInto.SCATTER: _emits(scatter),
}
"""What emits the call of an op, no pointwise one, that is given memory for its result."""
