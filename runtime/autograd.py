"""The border between a compiled program and PyTorch's autograd."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.aten import overload, with_strides
from dovetail.dialects.calls import BASE, FREES, ONCE, REACHED, argument_facts, donated, numbers
from dovetail.dialects.dovetail import OwnOp, ReadOp, RefType
from dovetail.dialects.torch_ops import Kind, aten_name, kind
from dovetail.runtime.double_backward import Replay
from dovetail.runtime.history import AtPlace, Place
from dovetail.runtime.stats import count_copy
from dovetail.runtime.version_checks import Watch, changed, counters, read_watches

_default_hooks = torch._C._autograd._top_saved_tensors_default_hooks
_version = attrgetter("_version")


@dataclass(frozen=True)
class Tangent:
    """What the backward expects for one owned result: sizes and strides in elements, as they were traced."""

    result: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype

    def prepare(self, gradient: torch.Tensor | None) -> torch.Tensor:
        """`gradient` in the layout that the backward was compiled for; zeros where autograd has none."""
        if gradient is None:
            return torch.empty_strided(self.shape, self.strides, dtype=self.dtype).zero_()
        laid_out = with_strides(gradient, self.strides)
        if laid_out is not gradient:
            count_copy("gradient in another memory layout than traced")
        return laid_out


@dataclass(frozen=True)
class Border:
    """What the IR says of a differentiable call, read once.

    `saved` tells for each saved value whether its version is "checked" (the user can reach its memory) or not, and
    `places` which of the forward's results it is; `watched` are the owned results that a checked value shares memory
    with but is not. `watches` is what eager would have saved besides. `once` is why the gradient can't be
    differentiated, None where nothing is known against it. `donated` are the saved values that the backward overwrites.
    `reached` are arguments with the owned results whose gradients flow to them, where that are not all; `frees` has for
    owned results the groups of what eager saved that their backward frees. `bases` are the sizes of what the user sees
    owned results as views of.
    """

    owned: int
    non_differentiable: tuple[int, ...]
    saved: tuple[str, ...]
    places: tuple[int, ...]
    watched: tuple[int, ...]
    watches: tuple[Watch, ...]
    tangents: tuple[Tangent, ...]
    once: str | None
    donated: tuple[int, ...]
    reached: tuple[tuple[int, tuple[int, ...]], ...]
    frees: tuple[tuple[int, frozenset[int]], ...]
    bases: tuple[tuple[int, tuple[int, ...]], ...]


def read_border(border: func.FuncOp, forward: func.FuncOp, backward: func.FuncOp) -> Border:
    """Reads a border's facts from its three functions."""
    owned = len(border.type.results)
    returned = list(list(forward.body.blocks[0].operations)[-1].operation.operands)
    owners = [None if isinstance(each.owner, ir.Block) else each.owner.operation.opview for each in returned[:owned]]
    owns = {index: op for index, op in enumerate(owners) if isinstance(op, OwnOp)}
    saved = tuple(
        ir.StringAttr(ir.DictAttr(attributes)["dovetail.saved"]).value
        for attributes in list(forward.attributes["res_attrs"])[owned:]
    )
    checked = {memory(value): value for value, check in zip(returned[owned:], saved, strict=True) if check == "checked"}
    # A saved value that is also a result is saved as the result, which has a history; differentiable ones win.
    handed_out = {op.value: index for index, op in owns.items()}
    handed_out |= {op.value: index for index, op in owns.items() if op.is_differentiable}
    shared = tuple(index for index, op in owns.items() if checked.get(memory(op.value), op.value) != op.value)
    places = tuple(handed_out.get(value, owned + number) for number, value in enumerate(returned[owned:]))
    is_checked = {place for place, check in zip(places, saved, strict=True) if check == "checked"} | {*shared}
    read = {op.opview.ref for op in _makers(checked) if isinstance(op.opview, ReadOp)}
    arguments = zip(backward.type.inputs, backward.attributes["arg_attrs"], strict=True)
    return Border(
        owned=owned,
        non_differentiable=tuple(index for index, op in owns.items() if not op.is_differentiable),
        saved=saved,
        places=places,
        watched=shared,
        watches=tuple(
            each
            for each in read_watches(border, owns)
            if (forward.arguments[each.place] not in read if each.is_argument else each.place not in is_checked)
        ),
        tangents=tuple(
            _tangent(RefType(type_), ir.IntegerAttr(ir.DictAttr(attributes)["dovetail.tangent_of"]).value)
            for type_, attributes in list(arguments)[len(saved) :]
        ),
        once=ir.StringAttr(border.attributes[ONCE]).value if ONCE in border.attributes else None,
        donated=donated(backward),
        reached=tuple(
            (index, places)
            for index, each in enumerate(argument_facts(border))
            if (places := numbers(each, REACHED)) is not None
        ),
        frees=tuple((index, frozenset(numbers(op.attributes, FREES) or ())) for index, op in owns.items()),
        bases=tuple(
            (index, sizes) for index, op in owns.items() if (sizes := numbers(op.attributes, BASE)) is not None
        ),
    )


def _makers(values: Iterable[ir.Value]) -> list[ir.Operation]:
    return [each.owner.operation for each in values if not isinstance(each.owner, ir.Block)]


def memory(value: ir.Value) -> ir.Value:
    """The value whose memory a host function's `value` lies in: views, and what ATen may return as one, share it."""
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        name = aten_name(op)
        is_alias = name is not None and any(each.alias_info is not None for each in overload(name)._schema.returns)
        if not op.operands or not (is_alias or kind(op) is Kind.VIEW):
            return value
        value = op.operands[0]
    return value


def _tangent(type_: RefType, result: int) -> Tangent:
    return Tangent(result, type_.info.shape, type_.strides, getattr(torch, type_.info.dtype))


def make_border(border: Border, forward: Callable, backward: Callable, replay: Replay, name: str) -> Callable:
    """Returns the function that runs `forward` as one autograd node whose gradient is `backward`.

    Both take one list, which they empty. Values that the user can reach are saved with a version check, so that an
    in-place change before the backward raises; the others die as soon as the backward has used them. A backward that
    is to be differentiated runs `replay` instead. An argument that no given gradient flows to gets none, as in eager.
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
    # Where the program saves nothing, nothing tells that eager freed something.
    frees = border.frees if not total else ()

    class Node(torch.autograd.Function):
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
            ctx.save_for_backward(*left[:cut])
            ctx.stash = left[cut:]
            ctx.freed = set()
            # Hooks may give other types back: eager saves no masks, so they may take all for floats.
            ctx.types = [each.dtype for each in left] if has_hooks else None
            # Of what hooks have packed eager checks no version.
            ctx.counters = () if has_hooks else counters(border.watches, arguments, results)
            # A gradient that can't be differentiated again must lead somewhere, to say so when somebody tries.
            ctx.roots = [each for each in arguments if _requires_grad(each)] if refusal is not None else []
            ctx.set_materialize_grads(False)
            ctx.mark_non_differentiable(*[results[index] for index in border.non_differentiable])
            return results[:owned]

        @staticmethod
        def backward(ctx, *gradients):
            if ctx.stash is None:
                raise RuntimeError(
                    f"the saved values of {name}Backward were freed by its first run; call backward(retain_graph=True)"
                )
            if frees:
                _free(ctx, {group for index, each in frees if gradients[index] is not None for group in each})
            modified = changed(border.watches, ctx.counters, gradients, replay.names) if ctx.counters else None
            if modified is not None:
                raise RuntimeError(modified)
            left = [*(ctx.saved_tensors if len(ctx.stash) < total else ()), *ctx.stash]
            if ctx.types is not None:
                left = [each.to(dtype) for each, dtype in zip(left, ctx.types, strict=True)]
            is_checked = not ctx.stash
            is_kept = torch._C._autograd._get_current_graph_task_keep_graph()
            if ctx.stash and not is_kept:
                ctx.stash = None
            tangents = [tangent.prepare(gradients[tangent.result]) for tangent in border.tangents]
            reason = refusal
            if torch.is_grad_enabled():  # by create_graph=True
                reason = reason or (None if is_checked else _changed(ctx, left[len(order) :]))
                if reason is None:
                    return _flowing(gradients, _replay(ctx, left, tangents))
            values = [*(left[position] for position in positions), *tangents]
            # A graph that is kept may run again, and what went through hooks may be the user's.
            for place in border.donated if is_kept or ctx.types is not None else ():
                count_copy("saved value that the backward overwrites")
                values[place] = values[place].clone()
            kept_arguments = left[len(order) :] if torch.is_grad_enabled() else []
            del left, tangents  # what was saved must not outlive its last use in the backward
            with torch.no_grad():
                results = _flowing(gradients, backward(values))
            if torch.is_grad_enabled():
                roots = ctx.roots or [each for each in kept_arguments if _requires_grad(each)]
                return _Once.apply(reason, len(roots), *roots, *results)
            return results

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

    # PyTorch names the node in the graph after its class.
    named: type[Node] = type(name, (Node,), {})
    return named.apply


def _view_of(sizes: tuple[int, ...], tensor: torch.Tensor) -> torch.Tensor:
    """`tensor` as a view of one of `sizes`, which autograd does not take for a view of `tensor` in turn."""
    with torch._C._AutoDispatchBelowADInplaceOrView():
        base = tensor.view(sizes)
    return base.view(tensor.size())


def _free(ctx, groups: set[int]) -> None:
    """Notes what eager frees of its saved values, by group.

    Raises:
        RuntimeError: as eager does, where it was freed before.
    """
    if ctx.freed & groups:
        raise RuntimeError(
            "Trying to backward through the graph a second time (or directly access saved tensors after they have"
            " already been freed). Specify retain_graph=True if you need to backward through the graph a second time"
        )
    if not torch._C._autograd._get_current_graph_task_keep_graph():
        ctx.freed |= groups


def _versions(tensors: list[torch.Tensor]) -> list[int | None]:
    try:
        return [*map(_version, tensors)]
    except RuntimeError:  # an inference tensor has none; asking each first would cost every call
        return [None if each.is_inference() else each._version for each in tensors]


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
