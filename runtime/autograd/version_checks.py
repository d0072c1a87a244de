"""Version checks: of what the program saved, and of what eager's autograd alone would have saved or read again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

# A tensor that shares another one's version counter, and what that may be while nothing is changed.
Counter = tuple[torch.Tensor, tuple[int, ...]]
REREAD = "; a checkpointed region reads it, which eager recomputes from what it is now: run the function uncompiled"
_NO_MEMORY = torch.empty(0, device="cpu")


@dataclass(frozen=True)
class VersionCheck:
    """Argument or owned result number `position` must be unchanged if one of the owned `results` gets a gradient.

    Where it `is_reread`, eager recomputes a checkpointed region from it, and raises or not by how the region has it.
    """

    is_argument: bool
    position: int
    results: tuple[int, ...]
    is_reread: bool = False

    @property
    def whose(self) -> tuple[bool, int]:
        """Whether it is an argument, else a result, and which."""
        return self.is_argument, self.position


class Moved:
    """How far a call itself moves the version counters of its `arguments` after the forward: `moves`, by number.

    Others in the same memory may share a counter, as views of one tensor do even where they don't overlap, or have one
    of their own, as `.data` has: nothing tells.
    """

    def __init__(self, moves: Mapping[int, int], arguments: Sequence):
        self._moves = moves
        self._by_memory: dict[int, int] = {}
        for index, count in moves.items():
            memory = _memory(arguments[index])
            self._by_memory[memory] = self._by_memory.get(memory, 0) + count

    def unchanged(self, check: VersionCheck, tensor: torch.Tensor) -> tuple[int, ...]:
        """What the version of the checked `tensor` may be while nobody else changes it."""
        version = tensor._version
        if not check.is_argument or not self._moves:
            return (version,)
        own = self._moves.get(check.position, 0)
        others = self._by_memory.get(_memory(tensor), 0) - own
        return (version + own, version + own + others) if others else (version + own,)


def counters(
    checks: Sequence[VersionCheck], moved: Moved, arguments: Sequence, results: Sequence
) -> list[Counter | None]:
    """The version counters of what is checked, without its memory and its history; None where it has no counter."""
    found: list[Counter | None] = []
    for check in checks:
        tensor = (arguments if check.is_argument else results)[check.position]
        if tensor.is_inference():
            found.append(None)
            continue
        counted = tensor.detach()
        counted.data = _NO_MEMORY
        found.append((counted, moved.unchanged(check, tensor)))
    return found


def expected(check: VersionCheck, moved: Moved, shared: torch.Tensor, arguments: Sequence) -> Counter | None:
    """Like `counters`, of one tensor, of which `shared` is an alias that is kept anyway."""
    if shared.is_inference():
        return None
    return shared, moved.unchanged(check, arguments[check.position] if check.is_argument else shared)


def changed(
    checks: Sequence[VersionCheck], counted: Sequence[Counter | None], gradients: Sequence, names: Sequence[str]
) -> str | None:
    """Says what was modified in place though a gradient that was given needs it, in autograd's words; else None."""
    for check, counter in zip(checks, counted, strict=True):
        if counter is None or counter[0]._version in counter[1]:
            continue
        if any(gradients[result] is not None for result in check.results):
            what = f"argument {names[check.position]}" if check.is_argument else f"result {check.position}"
            return (
                "one of the variables needed for gradient computation has been modified by an inplace operation:"
                f" {what} of a compiled function is at version {counter[0]._version}; expected version {counter[1][-1]}"
                f" instead{REREAD if check.is_reread else ''}"
            )
    return None


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata
