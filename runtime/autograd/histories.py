"""What stands for an argument in autograd's graph as that was before the call.

The argument itself must not be kept beside its call's node. Once it is written in place, by the call or by its caller,
its own history leads to that node: a cycle that nobody finds, since it leads through autograd's graph. Leaves that
require gradients may be kept, as nobody can write these so; their nodes hold them, too.
"""

import torch

from dovetail.untraced import untraced


class StandIn(torch.autograd.Function):
    """A tensor's shape, dtype and history, with one element of memory."""

    @staticmethod
    def forward(ctx, tensor: torch.Tensor) -> torch.Tensor:
        return _of_one_element(tensor)

    @staticmethod
    @untraced
    def backward(ctx, gradient):
        return gradient


class Lying(torch.autograd.Function):
    """What stands in for a tensor, in memory by that one's strides, of no value."""

    @staticmethod
    def forward(ctx, stand_in: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
        return stand_in.new_empty_strided(stand_in.shape, strides)

    @staticmethod
    @untraced
    def backward(ctx, gradient):
        return gradient, None


class WithHistory(torch.autograd.Function):
    """A copy of `value` whose gradient goes where `stand_in`'s does."""

    @staticmethod
    def forward(ctx, stand_in: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return value.clone()

    @staticmethod
    @untraced
    def backward(ctx, gradient):
        return gradient, None


class Alias(torch.autograd.Function):
    """A tensor's memory, version counter and history."""

    @staticmethod
    def forward(ctx, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach()

    @staticmethod
    @untraced
    def backward(ctx, gradient):
        return gradient


def stand_in(tensor: torch.Tensor) -> torch.Tensor:
    """Stands in for a tensor of which nothing but its history is wanted, or that is about to be overwritten."""
    if not tensor.requires_grad:
        return _of_one_element(tensor)
    with torch.enable_grad():
        return StandIn.apply(tensor)


def _of_one_element(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of the shape and type of `tensor` with one element in memory, of no value: every call may make some."""
    return tensor.new_empty_strided(tensor.shape, (0,) * tensor.dim())


def lying_like(tensor: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """`value` itself if it has the strides of `tensor`, else a copy that lies as densely as `tensor` may."""
    return value if value.stride() == tensor.stride() else torch.empty_like(tensor).copy_(value)


def root(tensor: torch.Tensor) -> torch.Tensor:
    """Where the history of `tensor`, which requires a gradient, begins, without the memory of what is no leaf."""
    return tensor if tensor.is_leaf else stand_in(tensor)


def alias(argument):
    """An alias of `argument`; itself if it is no tensor, or a leaf that requires a gradient."""
    if not isinstance(argument, torch.Tensor):
        return argument
    if not argument.requires_grad:
        return argument.detach()
    if argument.is_leaf:
        return argument
    with torch.enable_grad():
        return Alias.apply(argument)
