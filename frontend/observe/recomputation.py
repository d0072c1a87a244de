"""A checkpointed region of an eager run, and whether eager's recomputation of it would do more than give its values."""

from collections.abc import Iterable

import torch
from torch.autograd.graph import saved_tensors_hooks

from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.checkpoint_regions import Region
from dovetail.frontend.observe.run_facts import version


class Recomputation:
    """What a region saves and writes.

    Args:
        region: the region.
        outside: the memory that was there before it.
    """

    def __init__(self, region: Region, outside: Iterable[int]):
        self.region, self.outside = region, frozenset(outside)
        # What autograd saved, each with its version then.
        self.packed: list[tuple[torch.Tensor, int]] = []
        self.writes: list[str] = []
        self.draws: list[str] = []

    def hooks(self) -> saved_tensors_hooks:
        """Where its ops run: what `checkpoint` saves is packed, so autograd checks no version of it."""
        return saved_tensors_hooks(self._pack, lambda packed: packed)

    def _pack(self, tensor: torch.Tensor) -> torch.Tensor:
        self.packed.append((tensor, version(tensor)))
        return tensor

    def note_writes(self, place: str, memories: set[int]) -> None:
        """Notes that the source line `place` wrote `memories`."""
        if not self.outside.isdisjoint(memories):
            self.writes.append(place)

    def note_draws(self, place: str) -> None:
        """Notes that the source line `place` drew random numbers."""
        if not self.region.draws_alike:
            self.draws.append(place)

    def check(self) -> None:
        """Raises, once the region ran, where eager's backward finds other values than the forward did, or writes."""
        if any(version(tensor) != before for tensor, before in self.packed):
            raise UnsupportedError("a checkpointed region writes what autograd saved in it")
        if self.packed and self.writes:
            raise UnsupportedError(f"{self.writes[0]}: a checkpointed region writes again when it is recomputed")
        if self.packed and self.draws:
            raise UnsupportedError(f"{self.draws[0]}: a checkpointed region draws other numbers when it is recomputed")
