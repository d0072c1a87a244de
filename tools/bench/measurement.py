"""Every figure of one case, all compilers side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from dovetail.tools.bench.cases import Case, Step
from dovetail.tools.bench.figures import DYNAMIC, DYNAMO_ALONE, EAGER, TRACING, Figures
from dovetail.tools.bench.memory import peak_bytes
from dovetail.tools.demo.timing import cold_caches, interleaved_samples, said_by_process, seconds

# A sample is at least about this long, so that the clock and one interrupt don't matter.
SAMPLE_SECONDS = 0.005

# PyTorch's backend that compiles nothing, and makes graphs joint, as who has no caches must.
_JOINT_ALONE = "aot_eager"


@dataclass(frozen=True)
class Effort:
    """How often things are repeated, and whether the cases are tiny.

    A hundred samples, since a model's last one step each: where half of a host's moments are slow ones, the median of
    25 falls now among these, now among the others.
    """

    compiles: int = 2
    rounds: int = 100
    smoke: bool = False


SMOKE = Effort(compiles=1, rounds=3, smoke=True)


def measure(case: Case, compilers: Sequence[str], effort: Effort) -> Figures:
    """Measures `case` in eager, with each of `compilers` (names of `torch.compile` backends) and with open sizes.

    Raises AssertionError where a compiler's first result isn't eager's: the speed of a wrong result is no figure.
    """
    figures = Figures(case.name, case.group)
    if case.group == "model":
        for _ in range(effort.compiles):
            for name in compilers:
                with cold_caches():
                    figures.cold_compile.setdefault(name, []).append(_first_call(case, name, effort))
                    figures.warm_compile.setdefault(name, []).append(_first_call(case, name, effort))
            figures.cold_compile.setdefault(TRACING, []).append(_first_call(case, _JOINT_ALONE, effort))
            figures.warm_compile.setdefault(TRACING, []).append(_first_call(case, DYNAMO_ALONE, effort))
    with cold_caches():
        steps = {EAGER: case.prepare(None, effort.smoke)}
        names = (*compilers, DYNAMIC) if case.takes_sizes else compilers
        names = (*names, TRACING) if case.group == "call" else names
        steps |= {name: case.prepare(name, effort.smoke) for name in names}
        _check_results(case, steps)
        inner = ceil(SAMPLE_SECONDS / max(seconds(steps[EAGER]), 1e-6))
        figures.step = interleaved_samples(steps, effort.rounds, inner)
        figures.peak = {name: [float(peak_bytes(step))] for name, step in steps.items()}
    return figures


def _first_call(case: Case, compiler: str, effort: Effort) -> float:
    """Seconds of the case's first call in a new process, which shares this one's caches."""
    smoke = ["--smoke"] if effort.smoke else []
    return said_by_process("dovetail.tools.bench.first_call", case.name, compiler, *smoke)


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
