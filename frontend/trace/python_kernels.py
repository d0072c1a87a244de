"""Kernels in Python, by which PyTorch takes a few ops apart before autograd or a table of decompositions sees them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch._C import DispatchKey

_KEYS = (DispatchKey.Autograd, DispatchKey.CompositeImplicitAutograd)


@contextmanager
def without_python_kernels(overloads: Iterable[torch._ops.OpOverload]) -> Iterator[None]:
    """While it is open, tracing meets these overloads as eager does: autograd's formula, then the table's entry."""
    kernels = {each: {key: each.py_kernels[key] for key in _KEYS if key in each.py_kernels} for each in overloads}
    for overload, hidden in kernels.items():
        for key in hidden:
            del overload.py_kernels[key]
        overload._dispatch_cache.clear()
    try:
        yield
    finally:
        for overload, hidden in kernels.items():
            overload.py_kernels.update(hidden)
            overload._dispatch_cache.clear()
