"""Version checks of what eager's autograd would have saved, and the compiled program did not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.calls import watched
from dovetail.dialects.dovetail import OwnOp

# A tensor that shares another one's version counter, and that counter at the end of the forward.
Counter = tuple[torch.Tensor, int]


@dataclass(frozen=True)
class Watch:
    """Argument or owned result number `place` must be unchanged if one of the owned `results` gets a gradient."""

    is_argument: bool
    place: int
    results: tuple[int, ...]


def read_watches(border: func.FuncOp, owns: Mapping[int, OwnOp]) -> list[Watch]:
    """What the IR says: `dovetail.watched` on the border's arguments and on the owned results, by number."""
    declared = border.attributes["arg_attrs"] if "arg_attrs" in border.attributes else ()
    arguments = [Watch(True, index, watched(ir.DictAttr(each))) for index, each in enumerate(declared)]
    results = [Watch(False, index, watched(op.attributes)) for index, op in owns.items()]
    return [each for each in [*arguments, *results] if each.results]


def counters(watches: Sequence[Watch], arguments: Sequence, results: Sequence) -> list[Counter | None]:
    """The version counters of what is watched, without its memory and its history; None where it has no counter."""
    found: list[Counter | None] = []
    for watch in watches:
        tensor = (arguments if watch.is_argument else results)[watch.place]
        if tensor.is_inference():
            found.append(None)
            continue
        counted = tensor.detach()
        counted.data = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        found.append((counted, tensor._version))
    return found


def changed(
    watches: Sequence[Watch], counted: Sequence[Counter | None], gradients: Sequence, names: Sequence[str]
) -> str | None:
    """Says what was modified in place though a gradient that was given needs it, in autograd's words; else None."""
    for watch, counter in zip(watches, counted, strict=True):
        if counter is None or counter[0]._version == counter[1]:
            continue
        if any(gradients[result] is not None for result in watch.results):
            what = f"argument {names[watch.place]}" if watch.is_argument else f"result {watch.place}"
            return (
                "one of the variables needed for gradient computation has been modified by an inplace operation:"
                f" {what} of a compiled function is at version {counter[0]._version}; expected version {counter[1]}"
                " instead"
            )
    return None
