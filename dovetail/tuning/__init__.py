"""`options={"tune": True}`: measures the ways to run each region, chooses the fastest, and remembers it on disk.

Which ways there are is said by passes and targets, not here.
"""

import hashlib
import json
from importlib.metadata import version

import torch
from torch_mlir import ir

from dovetail.backends.base_target import Target
from dovetail.backends.compiling.cache import RegionCache, region_key
from dovetail.dialects.building.region_texts import region_texts
from dovetail.dialects.by_key import by_key
from dovetail.dialects.reading import Module
from dovetail.options import Options
from dovetail.passes.pipeline import Pipeline, chosen_pipeline, library_pipeline, split_pipeline
from dovetail.passes.running.runner import Runner
from dovetail.runtime.load_plan import unavailable
from dovetail.runtime.stats import current
from dovetail.tuning.alternatives import LIBRARY, SPLIT, Alternative, alternatives_of, is_right, ways
from dovetail.tuning.stopwatch import seconds_per_call

_FORM = "dovetail-tuning-1"

NOISE = 1.1
"""How many times the fastest figure still counts as equal."""


def tune(module: ir.Module, options: Options, target: Target, runner: Runner, cache: RegionCache | None) -> None:
    """Measures each distinct region of a module at level `regions`, and makes the module say what was chosen.

    What was measured for a region of the same text, on this kind of machine and by the same versions, is not measured
    again (not without a `cache`).
    """
    for text, names in by_key((text, name) for name, text in region_texts(module).items()).items():
        key = tuning_key(text, target)
        entry = None if cache is None else cache.read(key)
        figures = None if entry is None else json.loads(entry)
        if figures is None:
            with module.context, ir.Location.unknown():
                figures = _measure(alternatives_of(Module(module).regions[names[0]], target, options.timeout, cache))
            if cache is not None:
                cache.store(key, json.dumps(figures).encode())
        if figures:
            chosen = _choice(figures)
            current().tuned[chosen] += len(names)
            runner.run(_pipeline(names, chosen, figures), module)


def tuning_key(text: str, target: Target) -> str:
    """SHA-256, in hex, of everything that the figures depend on; the figures themselves are no part of it."""
    launching = version("iree-base-runtime"), bool(unavailable(target.device))
    parts = (_FORM, region_key(text, target), *launching, torch.__version__, torch.get_num_threads())
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def _measure(found: dict[str, Alternative]) -> dict[str, float]:
    """Microseconds of a call by alternative; those that compute something else than ATen are left out."""
    expected = found[LIBRARY].results() if LIBRARY in found else None
    figures: dict[str, float] = {}
    for name, alternative in found.items():
        if expected is None or name == LIBRARY or is_right(alternative.results(), expected):
            current().measurements += 1
            figures[name] = round(seconds_per_call(alternative) * 1e6, 2)
    return figures


def _choice(figures: dict[str, float]) -> str:
    """The fastest, or the first that is as fast but for noise: what changes less comes first."""
    fastest = min(figures.values())
    return next(name for name, figure in figures.items() if figure <= NOISE * fastest)


def _pipeline(names: list[str], chosen: str, figures: dict[str, float]) -> Pipeline:
    """The passes that make the module do what was chosen, with the figures, fastest first, as the reason."""
    ordered = sorted(figures, key=figures.__getitem__)
    measured = ", ".join(f"{name} {figures[name]} us" for name in ordered)
    if chosen == LIBRARY:
        return library_pipeline(names, f"measured: {measured}")
    if chosen == SPLIT:
        parts = [f"{name}_{number}" for name in names for number in (0, 1)]
        splits = (part for name in names for part in split_pipeline(name))
        return (*splits, *chosen_pipeline(parts, measured))
    return chosen_pipeline(names, measured, *ways()[chosen])
