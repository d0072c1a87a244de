"""Work at compile time that the caller's saved-tensor hooks and dispatch modes don't see.

A call may be the first one inside of `checkpoint`, which counts what autograd saves and which ops run, or inside of
`save_on_cpu`. What a graph is compiled to must not depend on it, and none of the compiler's own tensors may reach it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import _disable_current_modes


@contextmanager
def unseen() -> Iterator[None]:
    """Takes the hooks and the modes off; puts them back afterwards."""
    hooks = []
    while (top := torch._C._autograd._top_saved_tensors_default_hooks(True)) is not None:
        hooks.append(top)
        torch._C._autograd._pop_saved_tensors_default_hooks()
    try:
        with _disable_current_modes():
            yield
    finally:
        for hook in reversed(hooks):
            torch._C._autograd._push_saved_tensors_default_hooks(*hook)
