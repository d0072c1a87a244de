"""A compiled program as one node of PyTorch's autograd."""

from collections.abc import Callable, Sequence
from operator import attrgetter

import torch

from dovetail.runtime.autograd.border import Border
from dovetail.runtime.autograd.history import AtPlace, Place
from dovetail.runtime.autograd.interrupted import Interrupted
from dovetail.runtime.autograd.partial_backward import PartialBackward
from dovetail.runtime.autograd.replay import Replay
from dovetail.runtime.autograd.version_checks import changed, counters, expected
from dovetail.runtime.stats import count_copy

_default_hooks = torch._C._autograd._top_saved_tensors_default_hooks
_version = attrgetter("_version")
# In eager's words.
_FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been"
    " freed). Specify retain_graph=True if you need to backward through the graph a second time"
)


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
    interrupted: Interrupted | None,
) -> Callable:
    """Returns the function that runs `forward` as one autograd node whose gradient is `backward`.

    Both take one list, which they empty. Values that the user can reach are saved with a version check, so that an
    in-place change before the backward raises; the others die as soon as the backward has used them. An argument that
    no given gradient flows to gets none, as in eager. A backward that is to be differentiated runs `replay` instead,
    one whose zeros for absent gradients make no number runs `partial` after it. `interrupted`, where the call writes
    its arguments, is told of the results before hooks see what is saved.
    """
    owned, refusal = border.owned, border.once or replay.refusal
    kept, histories = (replay.arguments, tuple(replay.histories.values())) if refusal is None else ((), ())
    draws = replay.draws and refusal is None
    checked = [place for place, check in zip(border.places, border.saved, strict=True) if check == "checked"]
    private = [place for place, check in zip(border.places, border.saved, strict=True) if check == "private"]
    # What a call leaves for its backward: these of the forward's results, then the kept arguments.
    order = [*checked, *border.watched, *private]
    visible, total = len(checked) + len(border.watched), len(order) + len(kept)
    positions = [order.index(place) for place in border.places]
    bases = dict(border.bases)
    # With several results to differentiate, a backward from some must leave what one from others needs.
    checks, is_partial = border.checks or (), border.checks is not None
    frees = border.frees if is_partial or not total else ()

    class Dovetail(CompiledCall):  # PyTorch names the node in the graph after its class
        @staticmethod
        def forward(ctx, *arguments):
            if draws:
                ctx.random_state = torch.get_rng_state()
            if histories:
                with torch.enable_grad():
                    ctx.histories = [Place.apply(arguments[index]) for index in histories]
            results = forward(list(arguments))
            if bases:
                results = tuple(
                    _view_of(bases[index], each) if index in bases else each for index, each in enumerate(results)
                )
            left = [results[place] for place in order]
            if kept:
                tensors = [arguments[index] for index in kept]
                ctx.versions = _versions(tensors)
                left += tensors
            # The user's hooks must see all of it; without any, autograd only has to check versions.
            has_hooks = _default_hooks(True) is not None
            cut = total if has_hooks else visible
            if has_hooks and interrupted is not None:
                interrupted.results = results[:owned]
            ctx.save_for_backward(*left[:cut])
            ctx.stash = left[cut:]
            # Hooks may give other types back: eager saves no masks, so they may take all for floats.
            ctx.types = [each.dtype for each in left] if has_hooks else None
            # Of what hooks have packed eager checks no version.
            ctx.counters = () if has_hooks else counters(border.watches, arguments, results)
            # Autograd lets go of what it saved after the first run, and checks all of it each time.
            ctx.shared = [each.detach() for each in left[:cut]] if is_partial and not has_hooks else None
            if ctx.shared:
                ctx.checks = [expected(*each, arguments) for each in zip(checks, ctx.shared, strict=True)]
            if frees:
                ctx.freed = set()
            # A gradient that can't be differentiated again must lead somewhere, to say so when somebody tries.
            ctx.roots = [each for each in arguments if _requires_grad(each)] if refusal is not None else []
            ctx.set_materialize_grads(False)
            ctx.mark_non_differentiable(*[results[index] for index in border.non_differentiable])
            return results[:owned]

        @staticmethod
        def backward(ctx, *gradients):
            modified = changed(border.watches, ctx.counters, gradients, replay.names) if ctx.counters else None
            if ctx.shared and modified is None:
                modified = changed(checks, ctx.checks, gradients, replay.names)
            if modified is not None:
                raise RuntimeError(modified)
            if frees:
                _free(ctx, frees, gradients)
            left = _left(ctx, gradients)
            if ctx.types is not None:
                left = [each.to(dtype) for each, dtype in zip(left, ctx.types, strict=True)]
            is_checked = not ctx.stash
            # It may run again for results of which nothing was freed.
            is_kept = torch._C._autograd._get_current_graph_task_keep_graph() or (
                ctx.shared is not None and any(groups and ctx.freed.isdisjoint(groups) for _, groups in frees)
            )
            if (ctx.stash or ctx.shared) and not is_kept:
                ctx.stash = ctx.shared = None
            tangents = [tangent.prepare(gradients[tangent.result]) for tangent in border.tangents]
            reason = refusal
            if torch.is_grad_enabled():  # by create_graph=True
                reason = reason or (None if is_checked else _changed(ctx, left[len(order) :]))
                if reason is None:
                    return _flowing(gradients, _replay(ctx, left, tangents))
            values = [*(left[position] for position in positions), *tangents]
            absent = frozenset(number for number, each in enumerate(border.tangents) if gradients[each.result] is None)
            again = list(values) if absent and partial.is_possible else None
            # A graph that is kept may run again, and what went through hooks may be the user's.
            for place in border.donated if again or is_kept or ctx.types is not None else ():
                count_copy("saved value that the backward overwrites")
                values[place] = values[place].clone()
            kept_arguments = left[len(order) :] if torch.is_grad_enabled() else []
            del left, tangents  # what was saved must not outlive its last use in the backward
            with torch.no_grad():
                results = backward(values)
                if again and not all(map(_is_finite, results)):
                    results = partial(again, absent)
                results = _flowing(gradients, results)
            if torch.is_grad_enabled():
                roots = ctx.roots or [each for each in kept_arguments if _requires_grad(each)]
                return _Once.apply(reason, len(roots), *roots, *results)
            return results

    def _left(ctx, gradients: tuple) -> list:
        """What the forward left, in `order`, then the kept arguments.

        Raises:
            RuntimeError: where it is freed and a given gradient needs it, in eager's words.
        """
        if ctx.stash is None:
            given = {index for index, each in enumerate(gradients) if each is not None}
            if torch.is_grad_enabled() or any(not given.isdisjoint(each) for each in border.used):
                raise RuntimeError(_FREED)
            # Whatever is multiplied with gradients that are absent.
            saved = [torch.zeros(each.shape, dtype=getattr(torch, each.dtype)) for each in border.saved_types]
            return [saved[positions.index(place)] if place in positions else None for place in range(len(order))]
        if ctx.shared is not None and not torch.is_grad_enabled():
            return [*ctx.shared, *ctx.stash]
        return [*(ctx.saved_tensors if len(ctx.stash) < total else ()), *ctx.stash]

    def _changed(ctx, tensors: list) -> str | None:
        """Whether kept arguments may have changed since the forward; autograd checks what it saved itself."""
        for index, tensor, version in zip(kept, tensors, ctx.versions if kept else (), strict=True):
            if version is None:
                return f"argument {replay.names[index]} is an inference tensor, whose changes can't be seen"
            if _version(tensor) != version:
                return f"argument {replay.names[index]} was modified in place after the call"
        return None

    def _flowing(gradients: tuple, results: Sequence) -> Sequence:
        """The `results` of the backward, without those that no given gradient flows to."""
        idle = [index for index, places in border.reached if all(gradients[place] is None for place in places)]
        return tuple(None if index in idle else each for index, each in enumerate(results)) if idle else results

    def _replay(ctx, left: list, tangents: list) -> tuple:
        arguments: list = [None] * len(ctx.needs_input_grad)
        for index, tensor in zip(kept, left[len(order) :], strict=True):
            arguments[index] = tensor
        values = {number: left[positions[number]] for number in replay.saved}
        for number, place in zip(replay.histories, ctx.histories if histories else (), strict=True):
            values[number] = AtPlace.apply(place, values[number])
        return replay(arguments, tangents, list(values.values()), ctx.random_state if draws else None)

    return Dovetail.apply


def _view_of(sizes: tuple[int, ...], tensor: torch.Tensor) -> torch.Tensor:
    """`tensor` as a view of one of `sizes`, which autograd does not take for a view of `tensor` in turn."""
    with torch._C._AutoDispatchBelowADInplaceOrView():
        base = tensor.view(sizes)
    return base.view(tensor.size())


def _free(ctx, frees: Sequence[tuple[int, frozenset[int]]], gradients: tuple) -> None:
    """Notes what eager frees of its saved values, by group.

    Raises:
        RuntimeError: as eager does, where it was freed before.
    """
    groups = {group for index, each in frees if gradients[index] is not None for group in each}
    if not ctx.freed.isdisjoint(groups):
        raise RuntimeError(_FREED)
    if not torch._C._autograd._get_current_graph_task_keep_graph():
        ctx.freed |= groups


def _versions(tensors: list[torch.Tensor]) -> list[int | None]:
    try:
        return [*map(_version, tensors)]
    except RuntimeError:  # an inference tensor has none; asking each first would cost every call
        return [None if each.is_inference() else each._version for each in tensors]


def _is_finite(gradient) -> bool:
    """Whether all of a gradient surely is: a sum takes one pass, and may overflow besides."""
    return gradient is None or bool(gradient.sum().isfinite())


def _requires_grad(value) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


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
