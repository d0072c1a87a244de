"""What is written to parts of memory, and joined there, in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch_mlir import ir

from dovetail.dialects.dovetail import PartOp
from dovetail.dialects.reading import made_by
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.dialects.torch_facts.types import require_tensor_info

if TYPE_CHECKING:
    from dovetail.backends.python.emitter import Emitter


def part_of(memory: torch.Tensor, dim: int, start: int, length: int) -> torch.Tensor:
    """What is written to a part does not move the version of `memory`, which is a result that nobody has seen."""
    return memory.data.narrow(dim, start, length)


def emit_part(emitter: Emitter, op: PartOp) -> None:
    length = require_tensor_info(op.part.type).shape[op.dimension]
    taken = f"{op.dimension}, {op.first}, {length}"
    emitter.line(f"{emitter.name(op.part)} = {emitter.bind('part_of', part_of)}({emitter.name(op.memory)}, {taken})")


def join(emitter: Emitter, listed: ir.Value, along: ir.Value, memory: ir.Value) -> None:
    """Copies to `memory` what is joined there `along` a dimension, but for what lies there."""
    dim = ir.IntegerAttr(along.owner.operation.attributes["value"]).value % len(require_tensor_info(memory.type).shape)
    start = 0
    for index, value in enumerate(listed.owner.operation.operands):
        length = require_tensor_info(value.type).shape[dim]
        if not _lies_in(memory, dim, start, value):
            taken = f"{emitter.name(memory)}, {dim}, {start}, {length}"
            # The list holds it: its own name may have ended with its life.
            emitter.line(f"{emitter.bind('part_of', part_of)}({taken}).copy_({emitter.name(listed)}[{index}])")
        start += length


def _lies_in(memory: ir.Value, dim: int, start: int, value: ir.Value) -> bool:
    """Whether `value` was written to the part of `memory` that begins at `start` along `dim`."""
    load = made_by(value, LOAD)
    made = None if load is None else made_by(load.operands[0], PartOp.OPERATION_NAME)
    if made is None:
        return False
    part = made.opview
    return (part.memory, part.dimension, part.first) == (memory, dim, start)
