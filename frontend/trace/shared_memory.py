"""An alias group inside of a traced function: one memory, put together from what the arguments hold, and its views."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch

from dovetail.errors import UnsupportedError
from dovetail.frontend.observe.alias_groups import AliasGroup
from dovetail.frontend.observe.autograd_graph import is_followed


@dataclass(frozen=True)
class SharedArgument:
    """One argument of an alias group: where it lies in the group's memory, and whether autograd takes it for a view.

    `start` is in bytes; `argument` and `same_as` differ where the same tensor is given twice.
    """

    argument: int
    same_as: int
    dtype: torch.dtype
    start: int
    is_attached: bool

    @property
    def first(self) -> int:
        """Its first element, in elements of its type."""
        return self.start // self.dtype.itemsize

    def end(self, primal: torch.Tensor) -> int | torch.SymInt:
        """The byte after the last one of what has the sizes of `primal`, or after the outermost step if it has gaps."""
        steps = [size * stride for size, stride in zip(primal.size(), primal.stride(), strict=True)]
        count = primal.numel() if primal.is_contiguous() else max([*steps, 1])
        return self.start + count * self.dtype.itemsize

    def of(self, memory: torch.Tensor, primal: torch.Tensor) -> torch.Tensor:
        """This argument, of the sizes and strides of `primal`, as a view of the group's memory, a flat tensor."""
        flat = memory if self.is_attached else memory.detach()
        flat = flat if flat.dtype == self.dtype else flat.view(self.dtype)
        if primal.is_contiguous():
            return flat.narrow(0, self.first, primal.numel()).view(primal.size())
        return _strided(flat[self.first :], primal.size(), primal.stride())


@dataclass(frozen=True)
class SharedMemory:
    """An alias group's memory, of elements of `dtype`; `members` begins with those that autograd follows."""

    dtype: torch.dtype
    members: tuple[SharedArgument, ...]

    def arguments(self, primals: Sequence) -> dict[int, torch.Tensor]:
        """The members as views of one memory; gradients flow to those that are attached."""
        memory = self._gathered(primals)
        views = {
            member.argument: member.of(memory, primals[member.argument])
            for member in self.members
            if member.same_as == member.argument
        }
        return {member.argument: views[member.same_as] for member in self.members}

    def _gathered(self, primals: Sequence) -> torch.Tensor:
        device = primals[self.members[0].argument].device
        if all(primals[member.argument].is_contiguous() and member.dtype == self.dtype for member in self.members):
            pieces = [self._piece(primals, device, *bounds) for bounds in self._pieces(primals)]
            # Of empty arguments there are no pieces, but gradients flow to all.
            pieces = pieces or [primals[member.argument].reshape(-1) for member in self.members]
            return torch.cat(pieces) if len(pieces) > 1 else pieces[0].clone()
        memory = torch.zeros(self._size(primals), dtype=self.dtype, device=device)
        # The attached ones last: where they overlap, gradients must reach them.
        for member in reversed(self.members):
            member.of(memory, primals[member.argument]).copy_(primals[member.argument])
        return memory

    def _size(self, primals: Sequence) -> int | torch.SymInt:
        """How many elements hold all members."""
        end = max(member.end(primals[member.argument]) for member in self.members)
        largest = max(member.dtype.itemsize for member in self.members)
        return -(-end // largest) * largest // self.dtype.itemsize

    def _pieces(self, primals: Sequence) -> Iterator[tuple[int, int, SharedArgument | None]]:
        """Who fills which elements, in order; None for what no member has."""
        spans = [(member, member.first, member.first + primals[member.argument].numel()) for member in self.members]
        ends = [0, self._size(primals), *(end for _, *ends in spans for end in ends)]
        pieces: list[tuple[int, int, SharedArgument | None]] = []
        for start, end in pairwise(sorted(ends)):
            if start == end:
                continue
            member = next((each for each, first, last in spans if first <= start and end <= last), None)
            if pieces and pieces[-1][2] is member:
                pieces[-1] = (pieces[-1][0], end, member)
            else:
                pieces.append((start, end, member))
        yield from pieces

    def _piece(self, primals: Sequence, device, start: int, end: int, member: SharedArgument | None) -> torch.Tensor:
        if member is None:
            return torch.zeros(end - start, dtype=self.dtype, device=device)
        flat = primals[member.argument].reshape(-1)
        return flat if end - start == flat.numel() else flat.narrow(0, start - member.first, end - start)


def shared_memory(group: AliasGroup, values: Sequence[torch.Tensor], names: Sequence[str]) -> SharedMemory:
    """Lays out the memory of `group`; raises UnsupportedError if two members require gradients of their own."""
    roots = dict(zip(group.members, group.roots, strict=True))
    differentiable = [index for index in group.members if is_followed(values[index])]
    attached = roots[(differentiable or group.members)[0]]
    for index in differentiable:
        if roots[index] != attached or values[index].dtype != values[differentiable[0]].dtype:
            pair = f"{names[differentiable[0]]} and {names[index]}"
            raise UnsupportedError(f"arguments {pair} share memory, and each has a gradient of its own")
    dtype = values[(differentiable or group.members)[0]].dtype
    for index in group.members:
        if values[index].is_neg() or values[index].is_conj():
            raise UnsupportedError(f"argument {names[index]} shares memory, and shows it negated or conjugated")
    members = [
        SharedArgument(
            index,
            group.members[group.objects.index(same)],
            values[index].dtype,
            start,
            roots[index] == attached and values[index].dtype == dtype,
        )
        for index, same, start in zip(group.members, group.objects, group.starts, strict=True)
    ]

    def priority(member: SharedArgument) -> tuple:
        """Those come first that gradients must reach; the others' elements are the same."""
        return member.argument not in differentiable, not member.is_attached, -values[member.argument].numel()

    return SharedMemory(dtype, tuple(sorted(members, key=priority)))


def _strided(flat: torch.Tensor, size: Sequence[int], stride: Sequence[int]) -> torch.Tensor:
    """`flat` seen with `size` and `stride`, by views that may be written while traced: `as_strided` may not.

    Strides that don't nest (sliding windows), or repeat elements, are refused.
    """
    order = sorted((dim for dim in range(len(size)) if size[dim] != 1), key=lambda dim: -stride[dim])
    view = flat
    for dim in order:
        if not stride[dim] or size[dim] * stride[dim] > view.size(-1):
            raise UnsupportedError(f"an argument of sizes {tuple(size)}, strides {tuple(stride)} shares memory")
        view = view.narrow(-1, 0, size[dim] * stride[dim])
        if stride[dim] > 1:
            view = view.unflatten(-1, (size[dim], stride[dim]))
    if order and stride[order[-1]] > 1:
        view = view.select(-1, 0)
    positions = [*order, *(dim for dim in range(len(size)) if dim not in order)]
    for _ in range(len(size) - len(order)):
        view = view.unsqueeze(-1)
    return view if positions == sorted(positions) else view.permute([positions.index(dim) for dim in range(len(size))])
