"""A call of `checkpoint` in an eager run: what its recomputation reads, and whether it does more than that."""

from collections.abc import Collection, Iterable, Sequence

import torch
from torch.autograd.graph import saved_tensors_hooks

from dovetail.errors import RereadError, UnsupportedError
from dovetail.frontend.observe.alias_groups import share_elements, storage
from dovetail.frontend.observe.autograd_graph import version
from dovetail.frontend.observe.op_calls import Drew, Reshaped, Wrote
from dovetail.frontend.observe.run_facts import Reread
from dovetail.frontend.observe.step import Step


class Recomputation:
    """What a call saves, and what of the memory around it it reads and writes.

    Args:
        number: the call's.
        outside: the memory that was there before it.
    """

    def __init__(self, number: int, outside: Iterable[int]):
        self.number, self.outside = number, frozenset(outside)
        self.first = torch.autograd._get_sequence_nr()
        # What autograd saved, each with its version then.
        self.packed: list[tuple[torch.Tensor, int]] = []
        self.writes: list[str] = []
        self.draws: list[str] = []
        # What was given from outside until the last save, with which the recomputation ends; and since then.
        self.given: list[torch.Tensor] = []
        self.read: list[torch.Tensor] = []
        self._given_since: list[torch.Tensor] = []
        self._read_since: list[torch.Tensor] = []
        self._known_saves = 0

    def note(self, step: Step, draws_alike: bool) -> None:
        """Notes a step inside of the call; `draws_alike` is whether its random numbers are drawn again."""
        given = [operand.tensor for operand in step.given if storage(operand.tensor) in self.outside]
        self._given_since += given
        self._read_since += [] if _only_shows(step) else given
        if not self.outside.isdisjoint(step.written):
            self.writes.append(step.line)
        if step.of(Drew) and not draws_alike:
            self.draws.append(step.line)
        if len(self.packed) > self._known_saves:
            self._known_saves = len(self.packed)
            self.given, self._given_since = self.given + self._given_since, []
            self.read, self._read_since = self.read + self._read_since, []

    def close(self) -> Reread:
        """Once the call is over, what its recomputation reads.

        Raises:
            UnsupportedError: where eager's backward finds other values than the forward did, or writes.
        """
        if any(version(tensor) != before for tensor, before in self.packed):
            raise UnsupportedError("a checkpointed region writes what autograd saved in it")
        if self.packed and self.writes:
            raise UnsupportedError(f"{self.writes[0]}: a checkpointed region writes again when it is recomputed")
        if self.packed and self.draws:
            raise UnsupportedError(f"{self.draws[0]}: a checkpointed region draws other numbers when it is recomputed")
        return Reread(range(self.first, torch.autograd._get_sequence_nr()), frozenset(map(storage, self.read)))

    def check_later(self, step: Step) -> None:
        """Raises RereadError where a step after the call changes what the recomputation reads."""
        for event in step.events:
            is_written = isinstance(event, Wrote) and any(share_elements(event.tensor, tensor) for tensor in self.read)
            is_reshaped = isinstance(event, Reshaped) and any(event.tensor is tensor for tensor in self.given)
            if is_written or is_reshaped:
                raise RereadError(f"{step.line}: changes what a checkpointed region reads again when it is recomputed")


def packing(calls: Sequence[Recomputation]) -> saved_tensors_hooks:
    """Where ops of `calls` run: what `checkpoint` saves is packed, so autograd checks no version of it."""

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        for call in calls:
            call.packed.append((tensor, version(tensor)))
        return tensor

    return saved_tensors_hooks(pack, lambda packed: packed)


def _only_shows(step: Step) -> bool:
    """Whether the step makes nothing but views."""
    given: Collection[int] = {storage(operand.tensor) for operand in step.given}
    return bool(step.returned) and not step.written and all(storage(value) in given for value in step.returned)
