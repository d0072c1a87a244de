"""Version checks of what eager's autograd would have saved, and the compiled program did not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

# A tensor that shares another one's version counter, and what that may be while nothing is changed.
Counter = tuple[torch.Tensor, tuple[int, ...]]
_NO_MEMORY = torch.empty(0, device="cpu")


@dataclass(frozen=True)
class Watch:
    """Argument or owned result number `place` must be unchanged if one of the owned `results` gets a gradient.

    `moves` says of arguments, by number, how far the call itself moves their version counters after the forward.
    """

    is_argument: bool
    place: int
    results: tuple[int, ...]
    moves: Mapping[int, int]


def counters(watches: Sequence[Watch], arguments: Sequence, results: Sequence) -> list[Counter | None]:
    """The version counters of what is watched, without its memory and its history; None where it has no counter."""
    found: list[Counter | None] = []
    for watch in watches:
        tensor = (arguments if watch.is_argument else results)[watch.place]
        if tensor.is_inference():
            found.append(None)
            continue
        counted = tensor.detach()
        counted.data = _NO_MEMORY
        found.append((counted, _unchanged(watch, tensor, arguments) if watch.moves else (tensor._version,)))
    return found


def expected(watch: Watch, shared: torch.Tensor, arguments: Sequence) -> Counter | None:
    """Like `counters`, of one tensor, of which `shared` is an alias that is kept anyway."""
    if shared.is_inference():
        return None
    if not watch.moves:
        return shared, (shared._version,)
    return shared, _unchanged(watch, arguments[watch.place], arguments)


def _unchanged(watch: Watch, tensor: torch.Tensor, arguments: Sequence) -> tuple[int, ...]:
    """The version after the call.

    Other arguments in the same memory may share the counter, as views of one tensor do even where they don't overlap,
    or have one of their own, as `.data` has: nothing tells.
    """
    version = tensor._version + watch.moves.get(watch.place, 0)
    near = (index for index in watch.moves if index != watch.place and _memory(arguments[index]) == _memory(tensor))
    others = sum(watch.moves[index] for index in near)
    return (version, version + others) if others else (version,)


def changed(
    watches: Sequence[Watch], counted: Sequence[Counter | None], gradients: Sequence, names: Sequence[str]
) -> str | None:
    """Says what was modified in place though a gradient that was given needs it, in autograd's words; else None."""
    for watch, counter in zip(watches, counted, strict=True):
        if counter is None or counter[0]._version in counter[1]:
            continue
        if any(gradients[result] is not None for result in watch.results):
            what = f"argument {names[watch.place]}" if watch.is_argument else f"result {watch.place}"
            return (
                "one of the variables needed for gradient computation has been modified by an inplace operation:"
                f" {what} of a compiled function is at version {counter[0]._version}; expected version {counter[1][-1]}"
                " instead"
            )
    return None


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata
