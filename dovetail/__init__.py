"""Dovetail: an MLIR-based compiler stack for PyTorch training graphs.

`torch.compile(model, backend="dovetail")` uses it; `dovetail.stats()` says what it did. Importing this package loads
neither MLIR nor IREE.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail.runtime.stats import Stats, stats

__all__ = ["Stats", "stats"]

_HOMES = dict.fromkeys(("Stats", "stats"), "dovetail.runtime.stats")


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'dovetail' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
