"""What a launch plan says, as plain records, whose numbers may be open: of type `int` or `MaybeOpen`."""

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias, TypeVar


class Register(NamedTuple):
    """Where a call finds a number that the plan leaves open."""

    number: int


MaybeOpen: TypeAlias = int | Register
"""A number, or the register that it is in."""

N = TypeVar("N", bound=MaybeOpen)


class Range(NamedTuple, Generic[N]):
    """`size` bytes of a buffer from byte `offset` on; buffers are the arguments, the transients, the constants."""

    buffer: int
    offset: N
    size: N


@dataclass(frozen=True)
class Dispatch(Generic[N]):
    """A kernel's launch: `workgroups` in x, y and z; on a GPU, of `threads`, with `shared_bytes` of dynamic memory.

    Its parameters are the addresses of `bindings`, then `words` of 32 bits. With `sets`, the first is an array of so
    many sets of addresses, of which `bindings` are as many as there are workgroups in y. A kernel that `waits` by
    itself for all before it may be launched while that still runs.
    """

    entry: str
    workgroups: tuple[N, ...]
    threads: tuple[int, ...]
    shared_bytes: int
    words: tuple[N, ...]
    bindings: tuple[Range[N], ...]
    sets: int = 0
    waits: bool = False


@dataclass(frozen=True)
class Fill(Generic[N]):
    """`target` gets `bits`, of `width` bytes, all over."""

    target: Range[N]
    bits: int
    width: int


@dataclass(frozen=True)
class Copy(Generic[N]):
    """`target` gets the bytes of `source`."""

    source: Range[N]
    target: Range[N]


Step: TypeAlias = Dispatch[N] | Fill[N] | Copy[N]


def table(launch: Dispatch[int]) -> int:
    """How many addresses the first parameter of `launch` holds; 0 where each is a parameter."""
    return launch.sets and len(launch.bindings) // launch.workgroups[1] * launch.sets
