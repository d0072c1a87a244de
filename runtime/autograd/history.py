"""A tensor's place in autograd's graph, kept apart from what the tensor holds."""

import torch


class Place(torch.autograd.Function):
    """Stands in for a tensor that is about to be overwritten: its shape, dtype and history, one element of memory."""

    @staticmethod
    def forward(ctx, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.new_zeros(()).expand(tensor.shape)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class AtPlace(torch.autograd.Function):
    """A copy of `value` whose gradient goes where `place`'s does."""

    @staticmethod
    def forward(ctx, place: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return value.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None
