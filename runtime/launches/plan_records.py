"""What a launch plan says, as plain records."""

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

MaybeOpen: TypeAlias = Any
"""A number, or in a tuple the register that it is in."""


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
