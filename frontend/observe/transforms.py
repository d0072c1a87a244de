"""`torch.func` transforms in a Dynamo graph: they open levels, inside of which tensors are wrapped once for each."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.autograd import forward_ad


def unwrapped(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor below all levels: the one that has memory."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    return tensor


def is_inside_transform() -> bool:
    """Whether a level is open: what is computed now would belong to it."""
    return torch._C._functorch.get_dynamic_layer_stack_depth() > 0 or forward_ad._current_level >= 0


@contextmanager
def closing_transforms() -> Iterator[None]:
    """Closes what a graph that failed midway has opened: else every later call finds itself inside of a transform."""
    depth, level = torch._C._functorch.get_dynamic_layer_stack_depth(), forward_ad._current_level
    disabled = torch._C._autograd._saved_tensors_hooks_get_disabled_error_message()
    try:
        yield
    finally:
        if disabled is None:
            torch._C._autograd._saved_tensors_hooks_enable()
        while forward_ad._current_level > level:
            forward_ad.exit_dual_level()
        torch._C._functorch.pop_dynamic_layer_stack_and_undo_to_depth(depth)
