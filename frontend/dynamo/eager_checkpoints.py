"""Checkpointed regions and custom functions of a Dynamo graph that runs eagerly, as PyTorch itself runs them.

The operators that Dynamo puts in their place are made for tracing. Run as they are, a region's backward draws random
numbers anew, and a function keeps what it saves to itself: `checkpoint` recomputes up to the last tensor that it saw
saved, and autograd asks whether that was written.
"""

from collections.abc import Collection, Sequence

import torch
from torch.utils.checkpoint import checkpoint

from dovetail.frontend.dynamo.graph import copy_of, is_static
from dovetail.untraced import untraced

_TAGGED = torch.ops.higher_order.tag_activation_checkpoint
_APPLY = torch.ops.higher_order.autograd_function_apply


def with_checkpoints(gm: torch.fx.GraphModule, state: Collection[int] = ()) -> torch.fx.GraphModule:
    """Returns a graph with the same modules and parameters, to be called in place of `gm`; itself where it has none.

    `state` are those of its arguments that are module state, beside those that Dynamo marks.
    """
    if not any(gm.graph.find_nodes(op="call_function", target=target) for target in (_TAGGED, _APPLY)):
        return gm
    graph = copy_of(gm.graph)
    for node in graph.find_nodes(op="call_function", target=_APPLY):
        node.target = apply
    placeholders = enumerate(graph.find_nodes(op="placeholder"))
    held = {node for index, node in placeholders if index in state or is_static(node)}
    for node in graph.find_nodes(op="call_function", target=_TAGGED):
        region, *operands = node.args
        node.args = (region, [index for index, operand in enumerate(operands) if operand in held], *operands)
        node.target = _checkpoint
    return torch.fx.GraphModule(gm, graph)


def _checkpoint(region: torch.fx.GraphModule, state: Collection[int], *operands, **options):
    """The user's own call: with the options that were given, and the policy, which Dynamo keeps with the region.

    Module state is not passed: the user's function has it. What is passed must not be written, and tells `checkpoint`
    whether its result requires a gradient.
    """
    contexts = region.meta.get("_checkpoint_context_fn")
    if contexts is not None:
        options["context_fn"] = contexts
    function = with_checkpoints(region, state)

    def run(*passed):
        rest = iter(passed)
        return function(*(operand if index in state else next(rest) for index, operand in enumerate(operands)))

    return checkpoint(run, *(operand for index, operand in enumerate(operands) if index not in state), **options)


def apply(
    forward: torch.fx.GraphModule,
    backward: torch.fx.GraphModule,
    *operands,
    non_differentiable_idx: Sequence[int],
    saved_for_backward_idx: Sequence[int],
    dirty_idx: Sequence[int] = (),
):
    """The user's own function, of which the graphs are: what it saves, autograd saves, and the rest is kept.

    Its node tells the tensors among the rest, which are `stashed`.
    """
    kept: list = []

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(*given):
            results, values = forward(*given)
            kept[:] = values
            return results

        @staticmethod
        def setup_context(ctx, inputs, output):
            results = output if isinstance(output, tuple | list) else (output,)
            ctx.mark_dirty(*(results[index] for index in dirty_idx))
            ctx.mark_non_differentiable(*(results[index] for index in non_differentiable_idx))
            ctx.save_for_backward(*(kept[index] for index in saved_for_backward_idx))
            for index in saved_for_backward_idx:
                kept[index] = None
            ctx.stashed = [value for value in kept if isinstance(value, torch.Tensor) and not value.is_inference()]

        @staticmethod
        @untraced
        def backward(ctx, *gradients):
            saved = dict(zip(saved_for_backward_idx, ctx.saved_tensors, strict=True))
            return backward(*gradients, *(saved.get(index, value) for index, value in enumerate(kept)))

    return Function.apply(*operands)
