"""What one compiled call leaves for its backward: saved values, version counters, and what was freed already."""

from collections.abc import Sequence

import torch

from dovetail.runtime.autograd.slots import Slots
from dovetail.runtime.autograd.version_checks import REREAD, changed, counters, expected, present

_default_hooks = torch._C._autograd._top_saved_tensors_default_hooks
_keeps_graph = torch._C._autograd._get_current_graph_task_keep_graph
# In eager's words.
_FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been"
    " freed). Specify retain_graph=True if you need to backward through the graph a second time"
)


def has_hooks() -> bool:
    """Whether the caller wants to see what is saved, by hooks for saved tensors."""
    return _default_hooks(True) is not None


def keep(ctx, slots: Slots, results: Sequence, arguments: Sequence) -> "Kept":
    """Keeps what a call leaves. Its node, `ctx`, gets what autograd checks itself, or the user's hooks are to see."""
    if has_hooks():
        return KeptByHooks(ctx, slots, results, arguments)
    return (Kept if slots.border.checks is None else KeptForSeveral)(ctx, slots, results, arguments)


class Kept:
    """What a call leaves whose results are differentiated together: after one backward, autograd frees all.

    `held` is what autograd does not hold, None once it is released.

    Raises:
        RuntimeError: by `check` and `take`, in eager's words, where something that a given gradient needs was modified,
            or is freed.
    """

    def __init__(self, ctx, slots: Slots, results: Sequence, arguments: Sequence):
        left = slots.filled(results, arguments)
        self._slots = slots
        self._freed: set[int] = set()
        self._numbers = slots.numbers(left)
        self.held: list | None = self._save(ctx, left, results, arguments)
        self._versions = _versions(self._arguments(self.held))

    def _save(self, ctx, left: list, results: Sequence, arguments: Sequence) -> list:
        """Saves what is left; returns what autograd does not hold."""
        self._counters = counters(self._slots.border.eager_only, arguments, results)
        ctx.save_for_backward(*left[: self._slots.checked])
        return left[self._slots.checked :]

    def expect_present_versions(self) -> None:
        """Takes all that the call itself has written since for unchanged."""
        self._counters = present(self._counters)
        self._versions = _versions(self._arguments(self.held or []))

    def _arguments(self, left: list) -> list:
        """The kept arguments, which are last."""
        return left[max(len(left) - len(self._slots.arguments), 0) :]

    def check(self, gradients: Sequence) -> None:
        """Notes what a backward from `gradients` frees."""
        _refuse(self._modified(gradients))
        groups = {group for index, freed in self._slots.frees if gradients[index] is not None for group in freed}
        _refuse(None if self._freed.isdisjoint(groups) else _FREED)
        if groups and not _keeps_graph():
            self._freed |= groups

    def _modified(self, gradients: Sequence) -> str | None:
        """What a given gradient needs, autograd does not check and was modified, in words."""
        return changed(self._slots.border.eager_only, self._counters, gradients, self._slots.border.names)

    def take(self, ctx, gradients: Sequence) -> list:
        """What was left, by slot. What is freed and no given gradient needs is zeros."""
        if self.held is not None:
            return [*self._saved(ctx), *self.held]
        given = {index for index, gradient in enumerate(gradients) if gradient is not None}
        needed = any(not given.isdisjoint(each.used) for each in self._slots.border.saved)
        _refuse(_FREED if needed or torch.is_grad_enabled() else None)
        return self._slots.zeros(self._numbers)

    def _saved(self, ctx) -> Sequence[torch.Tensor]:
        """What autograd holds, and has checked."""
        if not self._slots.checked:
            return ()
        try:
            return ctx.saved_tensors
        except RuntimeError as error:
            if not self._slots.border.rereads or "modified by an inplace operation" not in str(error):
                raise
            raise RuntimeError(f"{str(error).split('. Hint:')[0]}{REREAD}") from error

    def is_last(self) -> bool:
        """Whether nobody needs what was left after the present backward."""
        return not _keeps_graph()

    def release(self) -> None:
        """Lets go of what was left."""
        if self.held:
            self.held = None

    def argument_changes(self, left: list) -> str | None:
        """How kept arguments, which autograd does not check, may differ from what they were; None if they don't."""
        kept = zip(self._slots.arguments, self._arguments(left), self._versions, strict=True)
        for index, tensor, version in kept:
            if not isinstance(tensor, torch.Tensor):
                continue
            if version is None:
                return f"argument {self._slots.border.names[index]} is an inference tensor, whose changes can't be seen"
            if tensor._version != version:
                return f"argument {self._slots.border.names[index]} was modified in place after the call"
        return None


class KeptForSeveral(Kept):
    """What a call leaves whose results may be differentiated one by one: all must be there until none needs it.

    Autograd lets go of what it saved after the first backward, and each time checks all of it.
    """

    def _save(self, ctx, left: list, results: Sequence, arguments: Sequence) -> list:
        others = super()._save(ctx, left, results, arguments)
        shared = [tensor.detach() for tensor in left[: self._slots.checked]]
        self._expected = [expected(each) for each in shared]
        return [*shared, *others]

    def expect_present_versions(self) -> None:
        super().expect_present_versions()
        self._expected = present(self._expected)

    def _modified(self, gradients: Sequence) -> str | None:
        reason = super()._modified(gradients)
        if reason is not None or self.held is None:
            return reason
        return changed(self._slots.border.checks or (), self._expected, gradients, self._slots.border.names)

    def take(self, ctx, gradients: Sequence) -> list:
        if self.held is None:
            return super().take(ctx, gradients)
        if not torch.is_grad_enabled():
            return list(self.held)
        return [*self._saved(ctx), *self.held[self._slots.checked :]]

    def is_last(self) -> bool:
        is_done = not any(groups and self._freed.isdisjoint(groups) for _, groups in self._slots.frees)
        return super().is_last() and is_done

    def release(self) -> None:
        super().release()
        self._expected = []


class KeptByHooks(Kept):
    """What a call leaves whose caller has hooks for saved tensors: they see all of it, and may give back other types.

    Eager saves no masks, so they may take all for floats; and it checks no version of what they have packed. What it
    reads again it does not pack. Where the hooks are those of `checkpoint`, it reads all again, and so does the call.
    """

    def _save(self, ctx, left: list, results: Sequence, arguments: Sequence) -> list:
        self._types = [value.dtype if isinstance(value, torch.Tensor) else None for value in left]
        ctx.save_for_backward(*(value for value in left if isinstance(value, torch.Tensor)))
        self._plain = [value for value in left if not isinstance(value, torch.Tensor)]
        pack, _ = _default_hooks(True)
        are_checkpoints = getattr(pack, "__module__", None) == torch.utils.checkpoint.__name__
        self._rereads = () if are_checkpoints else self._slots.border.rereads
        self._counters = counters(self._rereads, arguments, results)
        return []

    def _modified(self, gradients: Sequence) -> str | None:
        return changed(self._rereads, self._counters, gradients, self._slots.border.names)

    def take(self, ctx, gradients: Sequence) -> list:
        saved, plain = iter(ctx.saved_tensors if self._types else ()), iter(self._plain)
        return [next(plain) if dtype is None else next(saved).to(dtype) for dtype in self._types]

    def is_last(self) -> bool:
        """What went through hooks may be the user's."""
        return False

    def argument_changes(self, left: list) -> str | None:
        return None


def _refuse(reason: str | None) -> None:
    if reason is not None:
        raise RuntimeError(reason)


def _versions(tensors: Sequence[torch.Tensor]) -> list[int | None]:
    try:
        return [tensor._version for tensor in tensors]
    except (RuntimeError, AttributeError):  # an inference tensor has none, nor a number; asking first costs each call
        return [
            None if not isinstance(value, torch.Tensor) or value.is_inference() else value._version for value in tensors
        ]
