"""What is written to parts of memory, and joined there, in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch_mlir import ir

from dovetail.backends.python.memory import filled
from dovetail.dialects.dovetail import PartOp
from dovetail.dialects.torch_facts.types import require_shaped_info
from dovetail.errors import ModuleError

if TYPE_CHECKING:
    from dovetail.backends.python.emitter import Emitter


def part_of(memory: torch.Tensor, dim: int, start: int, length: int) -> torch.Tensor:
    """What is written to a part does not move the version of `memory`, which is a result that nobody has seen."""
    return memory.data.narrow(dim, start, length)


def emit_part(emitter: Emitter, op: PartOp) -> None:
    length = require_shaped_info(op.part.type).shape[op.dimension]
    taken = ", ".join([str(op.dimension), *filled(emitter, (op.first, length), op.numbers)])
    emitter.line(f"{emitter.name(op.part)} = {emitter.bind('part_of', part_of)}({emitter.name(op.memory)}, {taken})")


def join(tensors: Sequence[torch.Tensor], dim: int, memory: torch.Tensor) -> None:
    """Copies to `memory` the `tensors` that are joined there along `dim`, but for what lies there.

    Raises:
        ModuleError: if they do not fill it.
    """
    dim, start = dim % memory.dim(), 0
    for tensor in tensors:
        place = part_of(memory, dim, start, tensor.size(dim))
        if place.shape != tensor.shape:
            raise ModuleError(f"{list(tensor.shape)} is joined where memory of {list(place.shape)} is")
        if (place.data_ptr(), place.stride()) != (tensor.data_ptr(), tensor.stride()):
            place.copy_(tensor)
        start += tensor.size(dim)
    if start != memory.size(dim):
        raise ModuleError(f"{start} numbers are joined in memory for {memory.size(dim)}")


def emit_join(emitter: Emitter, listed: ir.Value, along: ir.Value, memory: ir.Value) -> None:
    """A concatenation of what is `listed`, `along` a dimension, in `memory`."""
    taken = ", ".join(map(emitter.name, (listed, along, memory)))
    emitter.line(f"{emitter.bind('join', join)}({taken})")
