"""How gradients of filters and images lie as a convolution gives them: in eager, however these lie themselves."""

import torch

from dovetail.dialects.torch_facts.sizes import row_major
from dovetail.frontend.dynamo.open_sizes import is_open_value

aten = torch.ops.aten


def gradient_strides(gradient: torch.fx.Node) -> tuple[int, ...] | None:
    """The strides of a gradient that a convolution made, as it was traced; None where they are those of rows."""
    tensor = gradient.meta["val"]
    if not _is_of_convolution(gradient) or any(map(is_open_value, (*tensor.shape, *tensor.stride()))):
        return None
    is_in_rows = tuple(tensor.stride()) == row_major(tuple(tensor.shape))
    return None if is_in_rows or not tensor.numel() else tuple(tensor.stride())


def _is_of_convolution(node: torch.fx.Node) -> bool:
    """Whether `node` is a gradient as the convolution gave it, or cast, as under autocast."""
    while node.target is aten._to_copy.default:
        node = node.all_input_nodes[0]
    made = node.all_input_nodes[:1]
    return bool(made) and made[0].target is aten.convolution_backward.default
