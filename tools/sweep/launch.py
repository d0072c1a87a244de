"""Runs a swept region as a compiled model does: by a launch plan where there is one, else through IREE's runtime."""

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir

from dovetail.backends.base_target import Target
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import CompileFailure
from dovetail.dialects.building.region_texts import region_texts
from dovetail.dialects.statements.devices import home
from dovetail.loading import compilation, launchable, launchers, loaded, write_plans
from dovetail.passes.regions.keep_nan_tests import KeepNanTestsPass
from dovetail.passes.regions.keep_scalars import KeepScalarsPass
from dovetail.passes.regions.lower_regions import LowerRegionsPass
from dovetail.passes.regions.split_reductions import SplitReductionsPass

TIMEOUT_SECONDS = 120


def lower(module: ir.Module) -> None:
    """Takes a module of one region from level `program` to `regions`, by the passes that rewrite a region's body."""
    for pass_ in (SplitReductionsPass(), KeepScalarsPass(), KeepNanTestsPass(), LowerRegionsPass()):
        pass_.run(module)


@dataclass(frozen=True)
class Launched:
    """A region that runs; whether it keeps subnormal numbers, as a launch plan does and IREE's runtime does not."""

    run: Callable[..., None]
    keeps_subnormals: bool


def launched(module: ir.Module, target: Target) -> Launched | CompileFailure:
    """What runs region `@forward` of a module at level `regions`, which then is at `launches`; or why nothing does."""
    texts = region_texts(module)
    outcome = launchable(compilation(texts, target, TIMEOUT_SECONDS, None), home(module))["forward"]
    ready = loaded(outcome, "local-sync", "forward")
    if isinstance(ready, CompileFailure):
        return ready
    write_plans(module, {"forward": ready})
    return Launched(launchers(module, {"forward": ready})["forward"], isinstance(ready, LaunchPlan))
