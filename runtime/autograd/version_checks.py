"""Version checks: of what the program saved, and of what eager's autograd alone would have saved or read again."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

# A tensor that shares another one's version counter, and what that is while nothing is changed.
Counter = tuple[torch.Tensor, int]
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


def counters(checks: Sequence[VersionCheck], arguments: Sequence, results: Sequence) -> list[Counter | None]:
    """The version counters of what is checked, without its memory and its history; None where it has no counter."""
    found: list[Counter | None] = []
    for check in checks:
        tensor = (arguments if check.is_argument else results)[check.position]
        if tensor.is_inference():
            found.append(None)
            continue
        counted = tensor.detach()
        counted.data = _NO_MEMORY
        found.append((counted, tensor._version))
    return found


def expected(shared: torch.Tensor) -> Counter | None:
    """Like `counters`, of one tensor, of which `shared` is an alias that is kept anyway."""
    return None if shared.is_inference() else (shared, shared._version)


def present(counted: Sequence[Counter | None]) -> list[Counter | None]:
    """The same counters, as they are now."""
    return [None if each is None else (each[0], each[0]._version) for each in counted]


def changed(
    checks: Sequence[VersionCheck], counted: Sequence[Counter | None], gradients: Sequence, names: Sequence[str]
) -> str | None:
    """Says what was modified in place though a gradient that was given needs it, in autograd's words; else None."""
    for check, counter in zip(checks, counted, strict=True):
        if counter is None or counter[0]._version == counter[1]:
            continue
        if any(gradients[result] is not None for result in check.results):
            what = f"argument {names[check.position]}" if check.is_argument else f"result {check.position}"
            return (
                "one of the variables needed for gradient computation has been modified by an inplace operation:"
                f" {what} of a compiled function is at version {counter[0]._version}; expected version {counter[1]}"
                f" instead{REREAD if check.is_reread else ''}"
            )
    return None
