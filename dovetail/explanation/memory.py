"""What the final IR says of memory over time: how much the program holds after each op of its host functions."""

from collections.abc import Iterator

from torch_mlir import ir

from dovetail.dialects.memory.memory_use import MemoryUse, memory_use
from dovetail.explanation.picture_records import Memory, MemoryStep
from dovetail.explanation.value_origins import line
from dovetail.explanation.work import name_of


def memory(module: ir.Module) -> tuple[Memory, ...]:
    """One record for each host function; see `dialects/memory/memory_use.py` for what is counted."""
    return tuple(Memory(name, len(use.ops), tuple(_steps(name, use))) for name, use in memory_use(module).items())


def _steps(name: str, use: MemoryUse) -> Iterator[MemoryStep]:
    before = 0
    for index, (op, live) in enumerate(zip(use.ops, use.live, strict=True)):
        if live != before:
            yield MemoryStep(f"{name}:{index}", name_of(op), line(op.location), live)
        before = live
