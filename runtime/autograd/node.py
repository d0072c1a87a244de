"""A compiled program as one node of PyTorch's autograd."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext

import torch

from dovetail.runtime.autograd import streams
from dovetail.runtime.autograd.batched import is_batched, one_by_one
from dovetail.runtime.autograd.border import Border
from dovetail.runtime.autograd.gradients import Call, Gradients, requires_grad
from dovetail.runtime.autograd.histories import root
from dovetail.runtime.autograd.kept import has_hooks, keep
from dovetail.runtime.autograd.partial_backward import PartialBackward
from dovetail.runtime.autograd.replay import Replay
from dovetail.runtime.autograd.slots import Slots
from dovetail.runtime.autograd.writing import Writing
from dovetail.untraced import untraced


class CompiledCall(torch.autograd.Function):
    """Base of the classes that `make_border` makes."""


def is_compiled_call(node) -> bool:
    """Whether a node of autograd's graph is that of a compiled call."""
    return issubclass(getattr(node, "_forward_cls", object), CompiledCall)


def make_border(
    border: Border,
    forward: Callable,
    backward: Callable,
    partial: PartialBackward,
    replay: Replay,
    writing: Writing | None,
) -> Callable:
    """Returns the function that runs `forward` as one autograd node whose gradient is `backward`.

    Both take one list, which they empty, `backward` also what `border.told_by` gives. What a call leaves for its
    backward is a `Call`, of which `Gradients` computes. Of batched gradients, each has a backward. `writing`, where
    the call writes arguments, is told what it leaves, and of the results before hooks see what is saved.
    """
    slots = Slots(border, replay.arguments)
    compute = Gradients(border, slots, backward, partial, replay)
    bases, unseen_gpu = dict(border.bases), border.unseen_gpu

    def differentiated(ctx, gradients: Sequence) -> Sequence:
        # What takes these results gave no gradient for any, as a compiled call may; eager's ops give none then.
        if all(gradient is None for gradient in gradients):
            return (None,) * len(ctx.needs_input_grad)
        kept = ctx.call.kept
        kept.check(gradients)
        left = kept.take(ctx, gradients)
        is_last = kept.is_last()
        if is_last:
            kept.release()
        if is_batched(gradients):
            return one_by_one(gradients, lambda given: compute(ctx, list(left), given, False))
        return compute(ctx, left, gradients, is_last)

    class Dovetail(CompiledCall):  # PyTorch names the node in the graph after its class
        @staticmethod
        def forward(ctx, *arguments):
            start = replay.start(arguments) if border.once is None else None
            results = forward(list(arguments))
            if bases:
                shown = enumerate(results)
                results = tuple(_view_of(bases[index], result) if index in bases else result for index, result in shown)
            if writing is not None and has_hooks():
                writing.present.results = results[: border.owned]
            kept = keep(ctx, slots, results, arguments)
            if writing is not None:
                writing.present.kept.append(kept)
            ctx.call = Call(
                kept,
                start,
                border.numbers(arguments),
                border.layouts_of_tangents or [each.layout(results[each.result]) for each in border.tangents],
                [root(argument) for argument in arguments if requires_grad(argument)]
                if start is None or start.refusal is not None
                else [],
                None if unseen_gpu is None else streams.current_stream(unseen_gpu),
            )
            ctx.set_materialize_grads(False)
            ctx.mark_non_differentiable(*[results[index] for index in border.non_differentiable])
            return results[: border.owned]

        @staticmethod
        @untraced
        def backward(ctx, *gradients):
            with nullcontext() if unseen_gpu is None else streams.on(ctx.call.stream):
                return differentiated(ctx, gradients)

    return Dovetail.apply


def _view_of(sizes: tuple[int, ...], tensor: torch.Tensor) -> torch.Tensor:
    """`tensor` as a view of one of `sizes`, which autograd does not take for a view of `tensor` in turn."""
    with torch._C._AutoDispatchBelowADInplaceOrView():
        base = tensor.view(sizes)
    return base.view(tensor.size())
