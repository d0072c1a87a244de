"""Which tensor arguments of a call lie in each other's memory: the part of a call that sizes and types don't tell."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf

import numpy
import torch

from dovetail.dialects.by_key import by_key
from dovetail.dialects.torch_facts.empty import is_empty


@dataclass(frozen=True)
class AliasGroup:
    """Arguments (by position) whose spans of memory meet, directly or through others, or empty views of one tensor.

    `starts` are the bytes from the group's first byte, rounded down to `ALIGNMENT`, to each one's first element.
    `roots` are equal numbers for members that autograd takes for views of one tensor, `objects` for one object.
    """

    members: tuple[int, ...]
    starts: tuple[int, ...]
    roots: tuple[int, ...]
    objects: tuple[int, ...]


ALIGNMENT = 16
"""Bytes: the largest element, so that memory that starts there holds whole elements of every type."""


def alias_groups(values: Sequence) -> tuple[AliasGroup, ...]:
    """The groups of two or more among `values`, in the order of their first members; other values don't count."""
    tensors = ((index, value) for index, value in enumerate(values) if isinstance(value, torch.Tensor))
    empty = by_key((id(root(tensor)), index) for index, tensor in tensors if is_empty(tensor))
    together = [*empty.values(), *(members for each in neighbours(values) for members in _meeting(each, values))]
    groups = [_group(members, values) for members in together if len(members) > 1]
    return tuple(sorted(groups, key=lambda group: group.members))


def neighbours(values: Sequence) -> tuple[tuple[int, ...], ...]:
    """The positions of two or more tensors in one storage: a write of one may move the version counter of all."""
    tensors = ((index, value) for index, value in enumerate(values) if isinstance(value, torch.Tensor))
    storages = by_key((storage(tensor), index) for index, tensor in tensors if not is_empty(tensor))
    return tuple(tuple(indices) for indices in storages.values() if len(indices) > 1)


def _meeting(indices: Sequence[int], values: Sequence) -> Iterator[list[int]]:
    """Splits arguments in one storage where nobody's span crosses."""
    together: list[int] = []
    end = 0
    for index in sorted(indices, key=lambda each: span(values[each])[0]):
        start, stop = span(values[index])
        if together and start >= end:
            yield sorted(together)
            together = []
        together.append(index)
        end = max(end, stop) if len(together) > 1 else stop
    yield sorted(together)


def _group(members: list[int], values: Sequence) -> AliasGroup:
    # What has no elements has no address.
    spans = [span(values[index])[0] if values[index].numel() else 0 for index in members]
    origin = min(spans) // ALIGNMENT * ALIGNMENT
    return AliasGroup(
        tuple(members),
        tuple(start - origin for start in spans),
        _numbered([id(root(values[index])) for index in members]),
        _numbered([id(values[index]) for index in members]),
    )


def _numbered(identities: list[int]) -> tuple[int, ...]:
    seen: dict[int, int] = {}
    return tuple(seen.setdefault(identity, len(seen)) for identity in identities)


def root(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor that autograd takes `tensor` for a view of, itself if it is none."""
    return tensor if tensor._base is None else tensor._base


def retains_grad(tensor: torch.Tensor) -> bool:
    """Whether autograd shall keep the gradient of a non-leaf tensor, or of what it is a view of."""
    return tensor.retains_grad or root(tensor).retains_grad


def storage(tensor: torch.Tensor) -> int:
    """What is equal for tensors of one storage."""
    return tensor.untyped_storage()._cdata


def is_whole(tensor: torch.Tensor) -> bool | torch.SymBool:
    """Whether a tensor shows all of its memory, each element once. Of open sizes: an expression."""
    return tensor.untyped_storage().nbytes() == tensor.numel() * tensor.itemsize


def span(tensor: torch.Tensor) -> tuple[int, int]:
    """First byte and the one after the last, in the tensor's storage."""
    start = int(tensor.storage_offset()) * tensor.itemsize
    steps = sum(int(size - 1) * int(stride) for size, stride in zip(tensor.size(), tensor.stride(), strict=True))
    return start, start + (steps + 1) * tensor.itemsize


def crossing(left: Sequence[torch.Tensor], right: Sequence[torch.Tensor]) -> Iterator[tuple[int, int]]:
    """The positions of one of `left` and one of `right` whose spans of one storage cross: others share no element.

    Of hundreds of parts of one memory each meets a few. Where a size is open, it may be all.
    """
    storages = by_key((storage(tensor), (*_bounds(tensor), index)) for index, tensor in enumerate(right))
    starts, ends = dict[int, list[float]](), dict[int, list[float]]()
    for memory, spans in storages.items():
        spans.sort()
        starts[memory] = [start for start, _, _ in spans]
        ends[memory] = list(accumulate((end for _, end, _ in spans), max))
    for index, tensor in enumerate(left):
        memory = storage(tensor)
        start, end = _bounds(tensor)
        position = bisect_left(starts.get(memory, ()), end)
        while position and ends[memory][position - 1] > start:
            position -= 1
            _, other_end, other = storages[memory][position]
            if other_end > start:
                yield index, other


def _bounds(tensor: torch.Tensor) -> tuple[float, float]:
    return (-inf, inf) if _is_open(tensor) else span(tensor)


def _is_open(tensor: torch.Tensor) -> bool:
    numbers = *tensor.size(), *tensor.stride(), tensor.storage_offset()
    return any(isinstance(number, torch.SymInt) for number in numbers)


def share_elements(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether two tensors have a byte in common; exact, where spans may just be interleaved.

    That asks for the numbers that open sizes are now, if the sizes do not tell that they are apart.
    """
    if storage(left) != storage(right):
        return False
    return not _are_apart(left, right) and bool(numpy.shares_memory(_array(left), _array(right)))


def shows_twice(tensor: torch.Tensor) -> bool:
    """Whether a tensor may show an element more than once: its steps don't lie inside of one another.

    That asks for the numbers that open sizes and strides are now, where they do not tell.
    """
    if tensor.is_contiguous():
        return False
    dims = sorted((dim for dim in range(tensor.dim()) if tensor.size(dim) != 1), key=tensor.stride)
    ends = [1, *(tensor.size(dim) * tensor.stride(dim) for dim in dims)]
    is_nested = all(end <= tensor.stride(dim) for dim, end in zip(dims, ends, strict=False))
    return not is_nested and not is_empty(tensor)


def may_share_elements(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether two tensors of one memory have a byte in common, or might have for other numbers where some are open."""
    if _is_open(left) or _is_open(right):
        return not _are_apart(left, right)
    return share_elements(left, right)


def _are_apart(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether two tensors surely have no element in common: of equal strides, one lies before the other, at some depth.

    What lies in one and the same step of a dimension, in both, meets nothing of another step.
    """
    if left.dtype != right.dtype or left.stride() != right.stride():
        return False
    starts = [tensor.storage_offset() for tensor in (left, right)]
    sizes = [left.size(), right.size()]
    for depth in range(left.dim() + 1):
        inner = [zip(size[depth:], left.stride()[depth:], strict=True) for size in sizes]
        ends = [
            start + 1 + sum((size - 1) * stride for size, stride in each)
            for start, each in zip(starts, inner, strict=True)
        ]
        if depth and max(ends) - min(starts) > left.stride(depth - 1):
            return False
        if ends[0] <= starts[1] or ends[1] <= starts[0]:
            return True
    return False


# Any address serves: only the distance between two tensors counts.
_SOMEWHERE = numpy.zeros(1, dtype=numpy.uint8)


def _array(tensor: torch.Tensor) -> numpy.ndarray:
    """An array over the tensor's memory that is all one, never read."""
    start, end = span(tensor)
    memory = numpy.lib.stride_tricks.as_strided(_SOMEWHERE, shape=(end,), strides=(1,))
    steps = tuple(stride * tensor.itemsize for stride in tensor.stride())
    return numpy.lib.stride_tricks.as_strided(
        memory[start:], shape=(*tensor.shape, tensor.itemsize), strides=(*steps, 1)
    )
