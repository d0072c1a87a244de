"""An op that no compiler sees into, and whose values tell the strides that it was given, forward and backward."""

import torch


def _layout(tensor: torch.Tensor) -> float:
    """A number from 1 to 2 for the strides, of dimensions where they mean something."""
    number = 0
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        if size > 1 and tensor.numel():
            number = (number * 31 + stride) % 59
    return 1 + number / 64


@torch.library.custom_op("dovetail_fuzz::scale_by_layout", mutates_args=())
def scale_by_layout(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor times a number that its strides give, contiguous; the gradient times that of its own strides."""
    return (tensor * _layout(tensor)).clone(memory_format=torch.contiguous_format)


@scale_by_layout.register_fake
def _(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device)


scale_by_layout.register_autograd(lambda _, gradient: scale_by_layout(gradient))
