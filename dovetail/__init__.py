"""Dovetail: an MLIR-based compiler stack for PyTorch training graphs.

`torch.compile(model, backend="dovetail")` uses it; `dovetail.stats()` says what it did, `dovetail.explain(fn, *args)`
what it believes of a function. Importing this package loads neither MLIR nor IREE.

Here the other packages are joined: a graph is compiled, loaded and kept, or runs as the user wrote it. What transforms
IR, makes code or runs at each call stands in theirs.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail.explanation import Explanation, explain
    from dovetail.runtime.stats import Stats, stats

    __version__: str

__all__ = ["Explanation", "Stats", "__version__", "explain", "stats"]

_HOMES = {
    **dict.fromkeys(("Explanation", "explain"), "dovetail.explanation"),
    **dict.fromkeys(("Stats", "stats"), "dovetail.runtime.stats"),
}


def __getattr__(name: str):
    if name == "__version__":
        from importlib.metadata import version

        return version("dovetail")
    if name not in _HOMES:
        raise AttributeError(f"module 'dovetail' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
