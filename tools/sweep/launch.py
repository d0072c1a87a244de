"""Runs a swept region as a compiled model does: by a launch plan where there is one, else through IREE's runtime."""

from collections.abc import Callable

from torch_mlir import ir

from dovetail.backends.iree import CompileFailure
from dovetail.backends.target import Target
from dovetail.dialects.regions import region_texts
from dovetail.loading import launchable, launchers, loaded, write_plans

TIMEOUT_SECONDS = 120


def launched(module: ir.Module, target: Target) -> Callable[..., None] | CompileFailure:
    """What runs region `@forward` of a module at level `regions`, which then is at `launches`; or why nothing does."""
    outcome = launchable(region_texts(module), target, TIMEOUT_SECONDS, None)["forward"]
    ready = loaded(outcome, "local-sync", "forward")
    if isinstance(ready, CompileFailure):
        return ready
    write_plans(module, {"forward": ready})
    return launchers(module, {"forward": ready})["forward"]
