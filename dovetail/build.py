"""Compiles a module's regions; what fails is split and tried again before it becomes library calls."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import ceil, log2

from torch_mlir import ir

from dovetail.backends.compiling.cache import RegionCache
from dovetail.backends.compiling.compiler_runs import Cause
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import CompileFailure
from dovetail.backends.target import target_for_device
from dovetail.dialects.reading import Module
from dovetail.dialects.statements.calls import fallbacks
from dovetail.dialects.statements.target import device_of
from dovetail.errors import StrictError
from dovetail.loading import Loaded, Regions, flushed, launchers, read_later, several_loops, write_plans
from dovetail.options import Options
from dovetail.passes.pipeline import Pipeline, apart_pipeline, fallback_pipeline, launch_pipeline, split_pipeline
from dovetail.passes.regions.pieces import pieces_of, work_count
from dovetail.passes.running.runner import Runner
from dovetail.runtime.load_plan import Launcher, planned
from dovetail.runtime.stats import current, timed
from dovetail.tuning import tune

log = logging.getLogger("dovetail")

TIME_OUT_SPLITS = 4
"""How many splits one counts for after a time-out, which costs the whole time limit."""


@contextmanager
def begun(module: ir.Module, options: Options) -> Iterator[Regions]:
    """The regions of a module, which compile while passes that leave them run, and for which `build` waits.

    What still compiles afterwards is ended. With tuning, which decides how they are compiled, none is begun.
    """
    target = target_for_device(device_of(module))
    with Regions(options, target, RegionCache() if options.cache else None) as regions:
        if not (options.tune and target.drivers):
            with timed("regions"):
                regions.begin(module)
        yield regions


def build(module: ir.Module, options: Options, runner: Runner, regions: Regions) -> dict[str, Launcher]:
    """Compiles the regions of a module at level `regions`, and takes it to `launches`; it comes to say what runs.

    A region that fails is halved until only the ops at fault are library calls (`split-region`, `inline-regions`). The
    number of splits is bounded: twice the logarithm of the region's ops, which isolates one fault and mostly two. A
    region that has no launch plan runs through IREE's runtime, unless it can tell a subnormal number from zero.

    `regions` are those that were `begun`.

    Raises:
        StrictError: with `options.strict`, if an op falls back to ATen, naming it and the reason.
    """
    target, cache = target_for_device(device_of(module)), regions.cache
    before = cache.hits if cache else 0
    if options.tune and not target.drivers:
        current().without_effect[f"tune: regions for {target.device} are compiled in one way"] += 1
    elif options.tune:
        with timed("tuning"):
            tune(module, options, target, runner, cache)
    tuning_hits = cache.hits - before if cache else 0
    ready, splits = None, _Splits(module)
    while ready is None:
        ready = _settled(module, regions.of(module), splits, runner)
    for op, reason in fallbacks(module) if options.strict else ():
        name = ir.StringAttr(op.attributes["name"]).value
        raise StrictError(
            f"{op.location}: {name} can't be compiled: {reason}; docs/ops.md says which row decides, CONTRIBUTING.md "
            "(\"An ATen op\") how to change it, and without 'strict' it runs through ATen"
        )
    stats = current()
    stats.executables += len({id(each) for each in ready.values()})  # equal regions have one
    stats.cache_hits += cache.hits - tuning_hits if cache else 0
    for executable in ready.values():
        way = planned(target.device) if isinstance(executable, LaunchPlan) else f"iree.runtime: {executable.why}"
        stats.launches[way] += 1
    write_plans(module, ready)
    if runner.after is not None:
        runner.after("plans", module)
    # Not among the passes that replay a compilation: what they check was read by another process.
    Runner(dump=runner.dump, after=runner.after, stage=runner.stage).run(launch_pipeline(), module, "plans")
    return launchers(module, ready)


def _settled(
    module: ir.Module, loaded: Mapping[str, Loaded | CompileFailure], splits: "_Splits", runner: Runner
) -> dict[str, Loaded] | None:
    """What is `loaded` for each region; None where some region can't be run by it, and the module is other now."""
    stats = current()
    failures = {name: outcome for name, outcome in loaded.items() if isinstance(outcome, CompileFailure)}
    for name, failure in failures.items():
        stats.failures[failure.reason] += 1
        runner.run(_answer(module, name, failure, splits), module)
    if failures:
        return None
    ready = {name: outcome for name, outcome in loaded.items() if not isinstance(outcome, CompileFailure)}
    apart = several_loops(module, ready)
    for name in apart:
        log.info("region %s is split: one loop does not make all that is updated in place", name)
        stats.splits += 1
        runner.run(split_pipeline(name), module)
    if apart:
        return None
    wrong = flushed(module, ready)
    for name, reason in wrong.items():
        runner.run(fallback_pipeline([name], reason), module)
    if wrong:
        return None
    for reason, late in read_later(module, ready).items():
        log.info("regions %s share no memory with operands: %s", ", ".join(late), reason)
        runner.run(apart_pipeline(late, reason), module)
    return ready


class _Splits:
    """How often the regions of one module may still be split; the parts of one share what it has."""

    def __init__(self, module: ir.Module):
        found = Module(module).regions
        self.whole = {name: name for name in found}
        self.left = {name: 2 * ceil(log2(max(work_count(region), 1))) for name, region in found.items()}

    def take(self, name: str, cost: int) -> bool:
        """Whether region `name` may be split; its parts are then known, too."""
        whole = self.whole[name]
        if self.left[whole] < cost:
            return False
        self.left[whole] -= cost
        self.whole |= {f"{name}_0": whole, f"{name}_1": whole}
        return True


def _answer(module: ir.Module, name: str, failure: CompileFailure, splits: _Splits) -> Pipeline:
    """The passes that take region `name`, which failed, out of the module."""
    cost = TIME_OUT_SPLITS if failure.cause is Cause.TIME_OUT else 1
    if pieces_of(Module(module).regions[name]) is not None and splits.take(name, cost):
        log.info("region %s is split: %s", name, failure.reason)
        current().splits += 1
        return split_pipeline(name)
    log.warning("region %s runs through ATen: %s; reproduce with: %s", name, failure.reason, failure.reproducer)
    return fallback_pipeline([name], failure.reason)
