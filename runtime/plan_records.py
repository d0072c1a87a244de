"""What a launch plan says, as plain records."""

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import torch

MaybeOpen: TypeAlias = Any
"""A number, or in a tuple the register that it is in."""


class Argument(NamedTuple):
    """What a region expects of an argument: row by row, on one GPU."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    is_written: bool


class Range(NamedTuple):
    """`size` bytes of a buffer from byte `offset` on; buffers are the arguments, the transients, the constants."""

    buffer: int
    offset: MaybeOpen
    size: MaybeOpen


@dataclass(frozen=True)
class Dispatch:
    """A kernel's launch: `workgroups` in x, y and z; on a GPU, of `threads`, with `shared_bytes` of dynamic memory.

    Its parameters are the addresses of `bindings`, then `words` of 32 bits.
    """

    entry: str
    workgroups: tuple[MaybeOpen, ...]
    threads: tuple[int, ...]
    shared_bytes: int
    words: tuple[MaybeOpen, ...]
    bindings: tuple[Range, ...]


@dataclass(frozen=True)
class Fill:
    """`target` gets `bits`, of `width` bytes, all over."""

    target: Range
    bits: int
    width: int


@dataclass(frozen=True)
class Copy:
    """`target` gets the bytes of `source`."""

    source: Range
    target: Range


Step = Dispatch | Fill | Copy


@dataclass(frozen=True)
class PlanRecord:
    """A region's launches on a GPU, in order; one stream runs them one after the other, so there are no barriers.

    Attributes:
        region: its symbol.
        arguments: inputs, then destinations.
        transient_bytes: of the buffer after the arguments, which a call needs while it runs.
        constants: the contents of the last buffer.
    """

    region: str
    arguments: tuple[Argument, ...]
    transient_bytes: int
    constants: bytes
    steps: tuple[Step, ...]
