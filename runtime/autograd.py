"""The border between a compiled program and PyTorch's autograd."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.aten import with_strides
from dovetail.dialects.dovetail import OwnOp, RefType
from dovetail.runtime.stats import count_copy


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

    `saved` tells for each saved value whether its version is "checked" (the user can reach its memory) or not.
    """

    owned: int
    non_differentiable: tuple[int, ...]
    saved: tuple[str, ...]
    tangents: tuple[Tangent, ...]


def read_border(border: func.FuncOp, forward: func.FuncOp, backward: func.FuncOp) -> Border:
    """Reads a border's facts from its three functions."""
    owned = len(border.type.results)
    returned = list(forward.body.blocks[0].operations)[-1].operation.operands
    owners = [value.owner.operation.opview for value in list(returned)[:owned]]
    fixed = tuple(i for i, op in enumerate(owners) if isinstance(op, OwnOp) and not op.is_differentiable)
    saved = tuple(
        ir.StringAttr(ir.DictAttr(attributes)["dovetail.saved"]).value
        for attributes in list(forward.attributes["res_attrs"])[owned:]
    )
    arguments = zip(backward.type.inputs, backward.attributes["arg_attrs"], strict=True)
    tangents = tuple(
        _tangent(RefType(type_), ir.IntegerAttr(ir.DictAttr(attributes)["dovetail.tangent_of"]).value)
        for type_, attributes in list(arguments)[len(saved) :]
    )
    return Border(owned, fixed, saved, tangents)


def _tangent(type_: RefType, result: int) -> Tangent:
    return Tangent(result, type_.info.shape, type_.strides, getattr(torch, type_.info.dtype))


def make_border(border: Border, forward: Callable, backward: Callable, name: str) -> Callable:
    """Returns the function that runs `forward` as one autograd node whose gradient is `backward`.

    Both take one list, which they empty. Values that the user can reach are saved with a version check, so that an
    in-place change before the backward raises; the others die as soon as the backward has used them.
    """
    owned, saved = border.owned, border.saved
    checked = [index for index, check in enumerate(saved) if check == "checked"]
    private = [index for index, check in enumerate(saved) if check == "private"]

    class Node(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *arguments):
            results = forward(list(arguments))
            ctx.save_for_backward(*[results[owned + index] for index in checked])
            ctx.private = [results[owned + index] for index in private]
            ctx.set_materialize_grads(False)
            ctx.mark_non_differentiable(*[results[index] for index in border.non_differentiable])
            return results[:owned]

        @staticmethod
        def backward(ctx, *gradients):
            arguments: list = [None] * len(saved)
            for index, tensor in zip(checked, ctx.saved_tensors if checked else (), strict=True):
                arguments[index] = tensor
            if ctx.private is None:
                raise RuntimeError(
                    f"the saved values of {name}Backward were freed by its first run; call backward(retain_graph=True)"
                )
            for index, tensor in zip(private, ctx.private, strict=True):
                arguments[index] = tensor
            tensor = None  # the last one must not outlive its use in the backward
            if private and not torch._C._autograd._get_current_graph_task_keep_graph():
                ctx.private = None
            arguments += [tangent.prepare(gradients[tangent.result]) for tangent in border.tangents]
            with torch.no_grad():
                results = backward(arguments)
            if torch.is_grad_enabled():  # by create_graph=True
                return _Once.apply(torch.empty(0, requires_grad=True), *results)
            return results

    # PyTorch names the node in the graph after its class.
    named: type[Node] = type(name, (Node,), {})
    return named.apply


class _Once(torch.autograd.Function):
    """Hands gradients on, and says so when somebody differentiates them; unmarked they would count as constants."""

    @staticmethod
    def forward(ctx, _, *gradients):
        return gradients

    @staticmethod
    def backward(ctx, *_):
        raise RuntimeError(
            "the gradient of a compiled function can't be differentiated again yet; run the function uncompiled"
        )
