"""Compiles a module's regions; what fails is split and tried again before it becomes library calls."""

import logging
from math import ceil, log2

from torch_mlir import ir

from dovetail.backends.cache import RegionCache
from dovetail.backends.compiler_runs import TIMED_OUT
from dovetail.backends.iree import CompileFailure, Outcome, compile_regions
from dovetail.backends.target import DRIVERS, VARIANTS, Target, target_for_device
from dovetail.dialects.calls import fallbacks
from dovetail.dialects.regions import DRIVER, VARIANT, choice, region_bytes, region_texts, regions
from dovetail.errors import StrictError
from dovetail.options import Options
from dovetail.passes.pipeline import Pipeline, fallback_pipeline, split_pipeline
from dovetail.passes.regions.halves import halves, work_count
from dovetail.passes.running.runner import Runner
from dovetail.runtime.launch import Executable, choose_driver
from dovetail.runtime.stats import current
from dovetail.timed import timed
from dovetail.tuning import tune

log = logging.getLogger("dovetail")

TIME_OUT_SPLITS = 4
"""How many splits one counts for after a time-out, which costs the whole time limit."""


def build(module: ir.Module, options: Options, device: str, runner: Runner) -> dict[str, Executable]:
    """Compiles the regions of a module at level `regions`, which comes to say what runs.

    A region that fails is halved until only the ops at fault are library calls (`split-region`, `inline-regions`). The
    number of splits is bounded: twice the logarithm of the region's ops, which isolates one fault and mostly two.

    Raises:
        StrictError: with `options.strict`, if an op falls back to ATen, naming it and the reason.
    """
    target = target_for_device(device)
    cache = RegionCache() if options.cache else None
    if options.tune:
        with timed("tuning"):
            tune(module, options, target, runner, cache)
    tuning_hits = cache.hits if cache else 0
    stats = current()
    splits = _Splits(module)
    known: dict[_Made, Executable | CompileFailure] = {}
    while True:
        loaded = _load(module, options, target, cache, known)
        failures = {name: each for name, each in loaded.items() if isinstance(each, CompileFailure)}
        if not failures:
            break
        for name, failure in failures.items():
            stats.failures[failure.reason] += 1
            runner.run(_answer(module, name, failure, splits), module)
    if options.strict:
        _check_strict(module)
    stats.executables += len(set(_made(module).values()))
    stats.cache_hits += cache.hits - tuning_hits if cache else 0
    return {name: each for name, each in loaded.items() if not isinstance(each, CompileFailure)}


class _Splits:
    """How often the regions of one module may still be split; the parts of one share what it has."""

    def __init__(self, module: ir.Module):
        found = regions(module)
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
    cost = TIME_OUT_SPLITS if failure.reason.startswith(TIMED_OUT) else 1
    if halves(regions(module)[name]) is not None and splits.take(name, cost):
        log.info("region %s is split: %s", name, failure.reason)
        current().splits += 1
        return split_pipeline(name)
    log.warning("region %s runs through ATen: %s; reproduce with: %s", name, failure.reason, failure.reproducer)
    return fallback_pipeline([name], failure.reason)


# A region's text, the variant that it is compiled in, and the driver that runs it.
_Made = tuple[str, str, str]


def _load(
    module: ir.Module,
    options: Options,
    target: Target,
    cache: RegionCache | None,
    known: dict[_Made, Executable | CompileFailure],
) -> dict[str, Executable | CompileFailure]:
    """What each region compiled and loaded to; `known` remembers it, so that equal regions share one."""
    made = _made(module)
    for variant in VARIANTS:
        missing = {name: each[0] for name, each in made.items() if each[1] == variant and each not in known}
        if not missing:
            continue
        compiled = compile_regions(missing, target.variant(variant), timeout=options.timeout, cache=cache)
        for name, outcome in compiled.items():
            if made[name] not in known:
                known[made[name]] = _loaded(outcome, made[name][2], name)
    return {name: known[each] for name, each in made.items()}


def _made(module: ir.Module) -> dict[str, _Made]:
    """What decides each region's executable: tuning's choice, or else the default variant and its size."""
    texts, moved = region_texts(module), region_bytes(module)
    return {
        name: (
            texts[name],
            choice(region, VARIANT, "default", VARIANTS),
            choice(region, DRIVER, choose_driver(moved[name]), DRIVERS),
        )
        for name, region in regions(module).items()
    }


def _loaded(outcome: Outcome, driver: str, name: str) -> Executable | CompileFailure:
    """What IREE's runtime refuses (code for another version or machine) is a failure like one of its compiler's."""
    if isinstance(outcome, CompileFailure):
        return outcome
    try:
        return Executable(outcome, driver=driver, name=name)
    except (RuntimeError, ValueError, LookupError, OSError) as error:  # IREE's statuses, by Python's closest class
        message = " ".join(str(error).split())
        return CompileFailure(f"error: can't be loaded: {message}", message, "none, the region compiled")


def _check_strict(module: ir.Module) -> None:
    for op, reason in fallbacks(module):
        name = ir.StringAttr(op.attributes["name"]).value
        raise StrictError(
            f"{op.location}: {name} can't be compiled: {reason}; docs/op-sweep.md says what can, CONTRIBUTING.md (\"An "
            "ATen op\") which row of which file decides, and without 'strict' it runs through ATen"
        )
