"""The gradients of a compiled call, computed in the way that its caller asks for them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch

from dovetail.runtime.autograd.border import Border
from dovetail.runtime.autograd.handed_on import Once, Unchanged
from dovetail.runtime.autograd.kept import Kept
from dovetail.runtime.autograd.layouts import Laid
from dovetail.runtime.autograd.partial_backward import PartialBackward
from dovetail.runtime.autograd.replay import Replay, Start
from dovetail.runtime.autograd.slots import Slots
from dovetail.runtime.stats import count_copy


class Call(NamedTuple):
    """What a call leaves for its gradients.

    Attributes:
        kept: its saved values.
        start: what a replay must know from before the call; None where none is possible.
        symbols: the numbers of the call by which the backward's operands lie, by symbol.
        layouts: how tangents lie, one of each.
        roots: where gradients lead that can't be differentiated again, to say so when somebody tries.
        stream: the forward's, on which the backward runs, where autograd does not see to that.
    """

    kept: Kept
    start: Start | None
    symbols: Mapping[int, int]
    layouts: Sequence[Laid]
    roots: Sequence[torch.Tensor]
    stream: torch.Stream | None


@dataclass(frozen=True)
class Gradients:
    """Computes the gradients of a call's arguments from what it has left: its node's `call`, and its saved values.

    Attributes:
        border: what the IR says of the call.
        slots: where its saved values stand among those.
        backward: the compiled backward, for gradients that nobody differentiates.
        partial: runs in its place where zeros for absent gradients make no number.
        replay: computes gradients that may be differentiated, unless `border.once` says why none may be.
    """

    border: Border
    slots: Slots
    backward: Callable
    partial: PartialBackward
    replay: Replay

    def __call__(self, ctx, left: list, gradients: Sequence, is_last: bool) -> Sequence:
        """The gradients of the arguments; empties `left`, the saved values, which must not outlive their last use."""
        if not torch.is_grad_enabled():
            return self._computed(ctx, left, gradients, is_last)
        # By create_graph=True: somebody may differentiate the gradient.
        start = ctx.call.start
        reason = self.border.once if start is None else start.refusal or ctx.call.kept.argument_changes(left)
        if reason is None:
            return self._differentiable(ctx, left, gradients)
        known = [*left[len(self.slots.results) :], *(() if start is None else start.stand_ins)]
        roots = ctx.call.roots or [each for each in known if requires_grad(each)]
        with torch.no_grad():
            results = self._computed(ctx, left, gradients, is_last)
        return Once.apply(reason, len(roots), *roots, *results)

    def _tangents(self, ctx, gradients: Sequence) -> list:
        pairs = zip(self.border.tangents, ctx.call.layouts, strict=True)
        return [tangent.prepare(gradients[tangent.result], layout) for tangent, layout in pairs]

    def _computed(self, ctx, left: list, gradients: Sequence, is_last: bool) -> Sequence:
        """Empties `left`."""
        tangents = self._tangents(ctx, gradients)
        told = self.border.told_by(tangents, ctx.call.symbols)
        values = [*(left[slot] for slot in self.slots.of_saved), *tangents]
        left.clear()
        del tangents
        return self.border.flowing(gradients, self._run(values, told, gradients, is_last))

    def _run(self, values: list, told: tuple, gradients: Sequence, is_last: bool) -> Sequence:
        """What `backward` gives, or `partial` in its place.

        Empties `values`. Unless it `is_last`, they are needed again, so what the backward overwrites is copied.
        """
        absent = self.border.absent(gradients)
        again = list(values) if absent and self.partial.is_possible else None
        for position in self.border.donated if again or not is_last else ():
            count_copy("saved value that the backward overwrites")
            values[position] = values[position].clone()
        results = self.backward(values, *told)
        if again and not all(map(_is_finite, results)):
            return self.partial(again, absent, told)
        return results

    def _differentiable(self, ctx, left: list, gradients: Sequence) -> Sequence:
        results: Sequence = self._replayed(ctx, left, gradients)
        if self.border.rereads:
            known = [*left[: self.slots.checked], *left[len(self.slots.results) :]]
            counting = [value for value in known if isinstance(value, torch.Tensor) and not value.is_inference()]
            versions = [(tensor, tensor._version) for tensor in counting]
            # One by one, or a gradient of one of them would reach what others are computed from, as zeros.
            results = tuple(Unchanged.apply(versions, each) if requires_grad(each) else each for each in results)
        return self.border.flowing(gradients, results)

    def _replayed(self, ctx, left: list, gradients: Sequence) -> tuple:
        tangents = self._tangents(ctx, gradients)
        arguments: list = [None] * len(ctx.needs_input_grad)
        for index, tensor in zip(self.slots.arguments, left[len(self.slots.results) :], strict=True):
            arguments[index] = tensor
        saved = {number: left[self.slots.of_saved[number]] for number in self.replay.saved}
        told = self.border.told_by(tangents, ctx.call.symbols)
        return self.replay(ctx.call.start, arguments, tangents, self.border.absent(gradients), saved, told)


def _is_finite(gradient) -> bool:
    """Whether all of a gradient surely is: a sum takes one pass, and may overflow besides.

    In float16 it often would, where losses are scaled.
    """
    if gradient is None:
        return True
    return bool(gradient.sum(dtype=torch.float32 if gradient.dtype is torch.float16 else None).isfinite())


def requires_grad(value) -> bool:
    """Whether `value` is a tensor that autograd follows."""
    return isinstance(value, torch.Tensor) and value.requires_grad
