"""Batched gradients: those of a backward inside of `vmap`, or with `is_grads_batched=True`.

A batched tensor shows neither its batch's dimension nor its memory, which compiled code reads. So the backward runs
once for each element of the batch.
"""

from collections.abc import Callable, Sequence

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack

_is_batched = torch._C._functorch.is_batchedtensor
_is_of_old_kind = torch._C._functorch.is_legacy_batchedtensor  # what `is_grads_batched` makes

_LEVELS = 64  # that `vmap`s of the old kind may be nested

Gradients = Sequence[torch.Tensor | None]


def is_batched(gradients: Gradients) -> bool:
    """Whether any gradient has a dimension that only `vmap` sees."""
    return any(gradient is not None and (_is_batched(gradient) or _is_of_old_kind(gradient)) for gradient in gradients)


def one_by_one(gradients: Gradients, compute: Callable[[Gradients], Gradients]) -> tuple[torch.Tensor | None, ...]:
    """What `compute` makes of the gradients of each element of the batch, batched again.

    `compute` gets plain tensors, outside of every `vmap`. Which results are None may not hang on the element.
    """
    if not is_batched(gradients):
        with temporarily_clear_interpreter_stack():
            return tuple(compute(gradients))
    level, unwrapped = _unwrapped(gradients)
    size = next(gradient.size(0) for gradient, has_batch in unwrapped if gradient is not None and has_batch)
    computed = [one_by_one(_element(unwrapped, index), compute) for index in range(max(size, 1))]
    return tuple(
        None if each[0] is None else _wrapped(torch.stack(each)[:size], level) for each in zip(*computed, strict=True)
    )


def _unwrapped(gradients: Gradients) -> tuple[int, list[tuple[torch.Tensor | None, bool]]]:
    """The gradients without the innermost batch, whose dimension is the first, and which of them had it.

    Also the level of that batch, negative if it is of the old kind.
    """
    levels = [torch._C._functorch.maybe_get_level(each) for each in gradients if each is not None and _is_batched(each)]
    level = max(levels) if levels else -_level_of_old_kind(gradients)
    return level, [_without_batch(gradient, level) for gradient in gradients]


def _without_batch(gradient: torch.Tensor | None, level: int) -> tuple[torch.Tensor | None, bool]:
    if gradient is None or not (_is_of_old_kind(gradient) if level < 0 else _is_batched(gradient)):
        return gradient, False
    if level < 0:
        return torch._remove_batch_dim(gradient, -level, 1, 0), True
    plain, dimension = torch._C._functorch._unwrap_batched(gradient, level)
    return (plain, False) if dimension is None else (plain.movedim(dimension, 0), True)


def _element(unwrapped: Sequence[tuple[torch.Tensor | None, bool]], index: int) -> Gradients:
    """The gradients of one element; zeros in place of the first one of an empty batch."""
    return [
        each if each is None or not has_batch else each[index] if each.size(0) else each.new_zeros(each.shape[1:])
        for each, has_batch in unwrapped
    ]


def _wrapped(stacked: torch.Tensor, level: int) -> torch.Tensor:
    if level < 0:
        return torch._add_batch_dim(stacked, 0, -level)
    return torch._C._functorch._add_batch_dim(stacked, 0, level)


def _level_of_old_kind(gradients: Gradients) -> int:
    """That of the innermost batch of the old kind; a GPU's thread, which does not run in that `vmap`, is not told."""
    batched = [gradient for gradient in gradients if gradient is not None and _is_of_old_kind(gradient)]
    return next(level for level in range(_LEVELS, 0, -1) if any(_has_level(each, level) for each in batched))


def _has_level(tensor: torch.Tensor, level: int) -> bool:
    """Without a batch of that level, PyTorch makes one of as many copies as it is asked for."""
    one, two = (torch._remove_batch_dim(tensor, level, copies, 0).size(0) for copies in (1, 2))
    return one == two
