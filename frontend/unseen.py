"""Work at compile time that the caller's saved-tensor hooks, dispatch modes and other threads don't see.

A call may be the first one inside of `checkpoint`, which counts what autograd saves and which ops run, or inside of
`save_on_cpu`. What a graph is compiled to must not depend on it, and none of the compiler's own tensors may reach it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident

import torch
from torch.fx import _symbolic_trace
from torch.utils._python_dispatch import _disable_current_modes

_at_work: list[int] = []
"""The threads that compile, by their numbers."""


def tell_threads_apart() -> None:
    """Has Dynamo refuse to call a compiled function in a trace of torch.fx for traces of the same thread alone.

    PyTorch notes for the whole process that one is under way. So a call failed while another thread compiled a variant.
    """
    asked = _symbolic_trace.is_fx_symbolic_tracing
    if asked.__module__ == __name__:
        return

    def is_tracing() -> bool:
        is_under_way = _symbolic_trace._is_fx_tracing_flag
        return is_under_way and (not _at_work or get_ident() in _at_work) and asked()

    _symbolic_trace.is_fx_symbolic_tracing = is_tracing


def leave_modules_alone() -> None:
    """Has a trace of a thread that compiles leave the methods of `torch.nn.Module` as they are.

    PyTorch replaces two for the whole process, to note which modules are called; that of a graph's ops notes nothing of
    them. So other threads' modules ran through the trace, and Python forgot what it knows of all subclasses, twice a
    trace: where transformers are imported, milliseconds each time.
    """
    replace = _symbolic_trace._Patcher.patch_method
    if replace.__module__ == __name__:
        return

    def patch_method(patcher, owner: type, *arguments, **options) -> None:
        if owner is not torch.nn.Module or get_ident() not in _at_work:
            replace(patcher, owner, *arguments, **options)

    vars(_symbolic_trace)["_Patcher"].patch_method = patch_method


@contextmanager
def unseen() -> Iterator[None]:
    """Takes the hooks and the modes off; puts them back afterwards."""
    hooks = []
    while (top := torch._C._autograd._top_saved_tensors_default_hooks(True)) is not None:
        hooks.append(top)
        torch._C._autograd._pop_saved_tensors_default_hooks()
    _at_work.append(get_ident())
    try:
        with _disable_current_modes():
            yield
    finally:
        _at_work.remove(get_ident())
        for hook in reversed(hooks):
            torch._C._autograd._push_saved_tensors_default_hooks(*hook)
