"""Every figure of one case, all compilers side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from statistics import median

import torch
from cases import Case, Step
from memory import peak_bytes

from dovetail.tools.demo.timing import cold_caches, interleaved_medians, seconds

EAGER = "eager"
# A sample is at least about this long, so that the clock and one interrupt don't matter.
SAMPLE_SECONDS = 0.005


@dataclass(frozen=True)
class Effort:
    """How often things are repeated, and whether the cases are tiny."""

    compiles: int = 3
    rounds: int = 25
    smoke: bool = False


SMOKE = Effort(compiles=1, rounds=3, smoke=True)


@dataclass
class Figures:
    """Medians by name of the compiler, in seconds and bytes.

    `cold_compile` and `warm_compile` are the first call after `torch.compiler.reset()`, with empty caches and with
    those which the cold call filled, in the same process; eager has none. `step` is a later call, `peak` the memory
    that such a call needs above what was held before.
    """

    case: str
    cold_compile: dict[str, float] = field(default_factory=dict)
    warm_compile: dict[str, float] = field(default_factory=dict)
    step: dict[str, float] = field(default_factory=dict)
    peak: dict[str, float] = field(default_factory=dict)


def measure(case: Case, compilers: Sequence[str], effort: Effort) -> Figures:
    """Measures `case` in eager and with each of `compilers` (names of `torch.compile` backends).

    Raises AssertionError where a compiler's first result isn't eager's: the speed of a wrong result is no figure.
    """
    figures = Figures(case.name)
    cold: dict[str, list[float]] = {name: [] for name in compilers}
    warm: dict[str, list[float]] = {name: [] for name in compilers}
    for _ in range(effort.compiles):
        for name in compilers:
            with cold_caches():
                cold[name].append(seconds(case.prepare(name, effort.smoke)))
                torch.compiler.reset()
                warm[name].append(seconds(case.prepare(name, effort.smoke)))
    figures.cold_compile = {name: median(times) for name, times in cold.items()}
    figures.warm_compile = {name: median(times) for name, times in warm.items()}

    with cold_caches():
        steps = {EAGER: case.prepare(None, effort.smoke)}
        steps |= {name: case.prepare(name, effort.smoke) for name in compilers}
        _check_results(case, steps)
        inner = ceil(SAMPLE_SECONDS / max(seconds(steps[EAGER]), 1e-6))
        figures.step = interleaved_medians(steps, effort.rounds, inner)
        figures.peak = {name: float(peak_bytes(step)) for name, step in steps.items()}
    return figures


def _check_results(case: Case, steps: Mapping[str, Step]) -> None:
    """Calls every step for the first time and compares. Coarse: exactness has its own tests."""
    results = {name: step() for name, step in steps.items()}
    expected = results.pop(EAGER)
    for name, result in results.items():
        for index, (got, want) in enumerate(zip(result, expected, strict=True)):
            error, scale = (got - want).abs().max().item(), want.abs().max().item()
            if not error <= 1e-3 * scale:
                raise AssertionError(
                    f"{case.name}: result {index} by {name} differs from eager's by {error:.3g}, "
                    f"where the largest value is {scale:.3g}"
                )
