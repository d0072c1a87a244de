"""A compiled program as one node of PyTorch's autograd."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch

from dovetail.runtime.autograd.batched import is_batched, one_by_one
from dovetail.runtime.autograd.border import Border
from dovetail.runtime.autograd.interrupted import Interrupted
from dovetail.runtime.autograd.kept import has_hooks, keep
from dovetail.runtime.autograd.slots import Slots
from dovetail.runtime.stats import count_copy

if TYPE_CHECKING:
    from dovetail.runtime.autograd.partial_backward import PartialBackward
    from dovetail.runtime.autograd.replay import Replay


class CompiledCall(torch.autograd.Function):
    """Base of the classes that `make_border` makes."""


def is_compiled_call(node) -> bool:
    """Whether a node of autograd's graph is that of a compiled call."""
    return issubclass(getattr(node, "_forward_cls", object), CompiledCall)


def make_border(
    border: Border,
    forward: Callable,
    backward: Callable,
    partial: "PartialBackward",
    replay: "Replay",
    interrupted: Interrupted | None,
) -> Callable:
    """Returns the function that runs `forward` as one autograd node whose gradient is `backward`.

    Both take one list, which they empty, `backward` also what `border.told_by` gives. What a call leaves for its
    backward is `Kept`. A backward that is to be differentiated runs `replay` instead. Of batched gradients, each has
    a backward. `interrupted`, where the call writes arguments, is told of the results before hooks see what is saved.
    """
    refusal = border.once or replay.refusal
    slots = Slots(border, replay.arguments if refusal is None else (), replay.names)
    bases = dict(border.bases)

    class Dovetail(CompiledCall):  # PyTorch names the node in the graph after its class
        @staticmethod
        def forward(ctx, *arguments):
            ctx.start = replay.start(arguments) if refusal is None else None
            results = forward(list(arguments))
            if bases:
                shown = enumerate(results)
                results = tuple(_view_of(bases[index], result) if index in bases else result for index, result in shown)
            if interrupted is not None and has_hooks():
                interrupted.results = results[: border.owned]
            ctx.kept, ctx.symbols = keep(ctx, slots, results, arguments), border.numbers(arguments)
            ctx.layouts = border.layouts_of_tangents or [each.layout(results[each.result]) for each in border.tangents]
            # A gradient that can't be differentiated again must lead somewhere, to say so when somebody tries.
            ctx.roots = [argument for argument in arguments if _requires_grad(argument)] if refusal is not None else []
            ctx.set_materialize_grads(False)
            ctx.mark_non_differentiable(*[results[index] for index in border.non_differentiable])
            return results[: border.owned]

        @staticmethod
        def backward(ctx, *gradients):
            kept = ctx.kept
            kept.check(gradients)
            left = kept.take(ctx, gradients)
            is_last = kept.is_last()
            if is_last:
                kept.release()
            if is_batched(gradients):
                return one_by_one(gradients, lambda given: computed(ctx, list(left), given, False))
            return computed(ctx, left, gradients, is_last)

    def gradient(values: list, told: tuple, gradients: Sequence, is_last: bool) -> Sequence:
        """What `backward` gives, or `partial` in its place where zeros for absent gradients make no number.

        Empties `values`. Unless it `is_last`, they are needed again, so what the backward overwrites is copied.
        """
        absent = border.absent(gradients)
        again = list(values) if absent and partial.is_possible else None
        for position in border.donated if again or not is_last else ():
            count_copy("saved value that the backward overwrites")
            values[position] = values[position].clone()
        results = backward(values, *told)
        if again and not all(map(_is_finite, results)):
            return partial(again, absent, told)
        return results

    def computed(ctx, left: list, gradients: Sequence, is_last: bool) -> Sequence:
        """The gradients of the arguments; empties `left`: what was saved must not outlive its last use."""
        pairs = zip(border.tangents, ctx.layouts, strict=True)
        tangents = [tangent.prepare(gradients[tangent.result], layout) for tangent, layout in pairs]
        told = border.told_by(tangents, ctx.symbols)
        values = [*(left[slot] for slot in slots.of_saved), *tangents]
        if not torch.is_grad_enabled():
            left.clear()
            del tangents
            return border.flowing(gradients, gradient(values, told, gradients, is_last))
        # By create_graph=True: somebody may differentiate the gradient.
        reason = refusal or ctx.kept.argument_changes(left)
        if reason is None:
            results: Sequence = replayed(ctx, left, tangents, told, border.absent(gradients))
            if border.rereads:
                known = [*left[: slots.checked], *left[len(slots.results) :]]
                counting = [value for value in known if isinstance(value, torch.Tensor) and not value.is_inference()]
                versions = [(tensor, tensor._version) for tensor in counting]
                # One by one, or a gradient of one of them would reach what others are computed from, as zeros.
                results = tuple(_Unchanged.apply(versions, each) if _requires_grad(each) else each for each in results)
            return border.flowing(gradients, results)
        roots = ctx.roots or [argument for argument in left[len(slots.results) :] if _requires_grad(argument)]
        left.clear()
        del tangents
        with torch.no_grad():
            results = border.flowing(gradients, gradient(values, told, gradients, is_last))
        return _Once.apply(reason, len(roots), *roots, *results)

    def replayed(ctx, left: list, tangents: list, told: tuple, without: frozenset[int]) -> tuple:
        arguments: list = [None] * len(ctx.needs_input_grad)
        for index, tensor in zip(slots.arguments, left[len(slots.results) :], strict=True):
            arguments[index] = tensor
        saved = {number: left[slots.of_saved[number]] for number in replay.saved}
        return replay(ctx.start, arguments, tangents, without, saved, told)

    return Dovetail.apply


def _view_of(sizes: tuple[int, ...], tensor: torch.Tensor) -> torch.Tensor:
    """`tensor` as a view of one of `sizes`, which autograd does not take for a view of `tensor` in turn."""
    with torch._C._AutoDispatchBelowADInplaceOrView():
        base = tensor.view(sizes)
    return base.view(tensor.size())


def _is_finite(gradient) -> bool:
    """Whether all of a gradient surely is: a sum takes one pass, and may overflow besides."""
    return gradient is None or bool(gradient.sum().isfinite())


def _requires_grad(value) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


class _Unchanged(torch.autograd.Function):
    """Hands a gradient on, and raises when it is differentiated if a tensor in `versions` has another one by then.

    Eager then recomputes checkpointed regions once more, from what these are.
    """

    @staticmethod
    def forward(ctx, versions, gradient):
        ctx.versions = versions
        return gradient.detach()  # what is returned as it came counts as a view, which nobody may write in place

    @staticmethod
    def backward(ctx, gradient):
        if any(tensor._version != version for tensor, version in ctx.versions):
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: a"
                " checkpointed region of a compiled function reads it, which eager recomputes from what it is now"
            )
        return None, gradient


class _Once(torch.autograd.Function):
    """Hands gradients on, and says so when somebody differentiates them; unmarked they would count as constants."""

    @staticmethod
    def forward(ctx, reason, count, *roots_and_gradients):
        ctx.reason = reason
        return roots_and_gradients[count:]

    @staticmethod
    def backward(ctx, *_):
        raise RuntimeError(
            f"the gradient of a compiled function can't be differentiated again: {ctx.reason}; run the function"
            " uncompiled"
        )
