"""The check before a call: the arguments lie in memory as the program assumes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from operator import attrgetter

import torch

from dovetail.errors import AliasMismatch
from dovetail.runtime.checks.addresses import addresses

_data_ptr = torch.Tensor.data_ptr
_REMEMBERED = 8
"""Ways in which arguments of known sizes lie apart that a guard remembers."""


def extent(sizes: Sequence[int], strides: Sequence[int], itemsize: int) -> int:
    """Bytes from a tensor's first element to the end of its last."""
    if 0 in sizes:
        return 0
    return (sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True)) + 1) * itemsize


def extent_of(tensor: torch.Tensor) -> int:
    """The extent of a tensor."""
    return extent(tensor.size(), tensor.stride(), tensor.itemsize)


@dataclass(frozen=True)
class Member:
    """One argument of an alias group: its position, its distance in bytes from the group's first byte in use.

    `root` and `same` are equal numbers where autograd takes members for views of one tensor, where they are one object.
    """

    index: int
    start: int
    root: int
    same: int


@dataclass(frozen=True)
class Guard:
    """A declared guard's facts.

    `names` and `extents` (bytes, None where sizes are open) are the arguments'; the first `mutated` ones are written.
    `groups` lie together in the way they say, and nothing else that is written overlaps anything. `offsets` are
    (position, storage offset) of arguments for which that counts. `tracked` arguments, written in autograd's sight or
    views of such, must not retain a gradient, nor what they are views of: theirs is not computed by itself. `apart` are
    (position, number) of arguments that are views of one tensor, if it is written, only where their numbers are equal.
    """

    names: tuple[str, ...]
    extents: tuple[int | None, ...]
    mutated: int
    groups: tuple[tuple[Member, ...], ...] = ()
    offsets: tuple[tuple[int, int], ...] = ()
    tracked: tuple[int, ...] = ()
    apart: tuple[tuple[int, int], ...] = ()

    def check(self, *tensors: torch.Tensor) -> None:
        """Returns if the arguments lie as assumed.

        Raises:
            AliasMismatch: naming two arguments that don't, before anything ran.
        """
        for check in self._checks:
            check(tensors)

    @cached_property
    def _checks(self) -> list[Callable[[Sequence[torch.Tensor]], None]]:
        """Those that there is a reason for: they are in every call."""
        asked = (
            (self._check_gradients, self.tracked),
            (self._check_apart, self.mutated and self.apart),
            (self._check_offsets, self.offsets),
            (self._check_groups, self.groups),
            (self._check_overlaps, self.mutated),
        )
        return [check for check, reason in asked if reason]

    def _check_gradients(self, tensors: Sequence[torch.Tensor]) -> None:
        for index in self.tracked:
            base = tensors[index]._base
            if tensors[index].retains_grad or (base is not None and base.retains_grad):
                raise AliasMismatch(f"argument {self.names[index]} retains its gradient")

    def _check_apart(self, tensors: Sequence[torch.Tensor]) -> None:
        written = {id(base) for index in range(self.mutated) if (base := tensors[index]._base) is not None}
        positions: dict[int, tuple[int, int]] = {}
        for index, number in self.apart if written else ():
            viewed = id(tensors[index]._base)
            if viewed in written and positions.setdefault(viewed, (index, number))[1] != number:
                raise self._mismatch(index, positions[viewed][0])

    def _check_offsets(self, tensors: Sequence[torch.Tensor]) -> None:
        for index, offset in self.offsets:
            if tensors[index].storage_offset() != offset:
                raise AliasMismatch(f"argument {self.names[index]} starts elsewhere in its storage than assumed")

    def _check_groups(self, tensors: Sequence[torch.Tensor]) -> None:
        for group in self.groups:
            first, last = group[0], group[-1]
            origin = _data_ptr(tensors[first.index]) - first.start
            roots: dict[int, object] = {}
            objects: dict[int, object] = {}
            for member in group:
                tensor = tensors[member.index]
                root = tensor if tensor._base is None else tensor._base
                lies = _data_ptr(tensor) - origin == member.start
                is_same = objects.setdefault(member.same, tensor) is tensor
                if not (lies and is_same and roots.setdefault(member.root, root) is root):
                    raise self._mismatch(member.index, first.index)
            for found in (roots, objects):
                if len({id(value) for value in found.values()}) < len(found):
                    raise self._mismatch(last.index, first.index)

    def _check_overlaps(self, tensors: Sequence[torch.Tensor]) -> None:
        if None not in self.extents:
            self._starts_check(addresses(tensors))
            return
        pairs = zip(self.extents, tensors, strict=True)
        extents = [extent_of(tensor) if nbytes is None else nbytes for nbytes, tensor in pairs]
        self._sweep(self._spans(extents), addresses(tensors))

    @property
    def of_addresses(self) -> Callable[[bytes], None] | None:
        """The check as a function of `addresses(tensors)`; None where that is not all that it must know."""
        asks_more = self.tracked or self.apart or self.offsets or self.groups or None in self.extents
        return None if asks_more or not self.mutated else self._starts_check

    @cached_property
    def _starts_check(self) -> Callable[[bytes], None]:
        """The sweep over spans of known sizes, where they start; an optimizer's start where they did the last time."""
        return lru_cache(_REMEMBERED)(partial(self._sweep, self._spans([nbytes or 0 for nbytes in self.extents])))

    def _sweep(self, spans: Mapping[int, tuple[int, bool]], positions: bytes) -> None:
        """Sweeps over the spans by address: none that is written begins before the others so far have ended."""
        starts = memoryview(positions).cast("Q")
        end, last, written_end, last_written = 0, -1, 0, -1
        for index in sorted(spans, key=starts.__getitem__):
            start, (nbytes, is_written) = starts[index], spans[index]
            if start < (end if is_written else written_end):
                raise self._mismatch(index, last if is_written else last_written)
            stop = start + nbytes
            if stop > end:
                end, last = stop, index
            if is_written and stop > written_end:
                written_end, last_written = stop, index

    def _spans(self, extents: Sequence[int]) -> dict[int, tuple[int, bool]]:
        """By the argument at its first byte: a span's bytes, and whether they are written. A group is one span."""
        spans = {index: (nbytes, index < self.mutated) for index, nbytes in enumerate(extents)}
        for group in self.groups:
            first = min(group, key=attrgetter("start"))
            end = max(member.start + extents[member.index] for member in group)
            spans |= {member.index: (0, False) for member in group} | {first.index: (end - first.start, True)}
        return {index: span for index, span in spans.items() if span[0]}

    def _mismatch(self, left: int, right: int) -> AliasMismatch:
        one, other = sorted((left, right))
        return AliasMismatch(
            f"arguments {self.names[one]} and {self.names[other]} share memory in another way than assumed"
        )
