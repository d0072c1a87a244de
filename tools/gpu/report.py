"""The report of a run on a GPU, as Markdown: what was tested, what was measured, where."""

import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from math import exp, log

import torch

from dovetail.tools.gpu.measure import COPY, EAGER, OURS, THEIRS, Measured
from dovetail.tools.markdown import table

_PACKAGES = ("torch", "torch-mlir", "iree-base-compiler", "triton", "cuda-bindings")


@dataclass(frozen=True)
class TestRun:
    """What pytest said of some tests: its last line, the failures' names, and the seconds."""

    __test__ = False
    name: str
    summary: str
    failures: tuple[str, ...]
    seconds: float


def machine(commit: str) -> str:
    """Where it ran, and what: a table."""
    driver = _driver()
    rows = [
        ("commit", commit),
        ("GPU", f"{torch.cuda.device_count()} × {torch.cuda.get_device_name()}, driver {driver}"),
        ("CUDA of PyTorch", str(torch.version.cuda)),
        ("Python", platform.python_version()),
        *((name, _version(name)) for name in _PACKAGES),
    ]
    return "\n".join(table(("what", "which"), rows))


def outcome(run: TestRun) -> str:
    """How the tests went."""
    said = f"{run.name[0].upper()}{run.name[1:]}: {run.summary}; {run.seconds:.0f} s with their processes."
    return "\n".join([said, *([""] if run.failures else []), *(f"- failed: `{failure}`" for failure in run.failures)])


def figures(results: Sequence[Measured], bandwidth: float) -> str:
    """The table of all cases, and what they come to."""
    rows = [_row(result, bandwidth) for result in results]
    head = (
        "case",
        "eager, us",
        "inductor, us",
        "Dovetail, us",
        "× inductor",
        "GPU alone, us: inductor",
        "Dovetail",
        "of bandwidth",
        "of a copy of as many bytes",
        "error × eager's",
        "compile, s: inductor",
        "Dovetail",
        "note",
    )
    said = [*table(head, rows), "", f"A copy moves {bandwidth / 1e12:.2f} TB/s."]
    for group in dict.fromkeys(result.group for result in results):
        ratios = [ratio for result in results if result.group == group and (ratio := speed(result)) is not None]
        if ratios:
            said.append(
                f"Of group {group}, {len(ratios)} cases: {_mean(ratios):.2f} × inductor by the geometric mean,"
                f" {min(ratios):.2f} at least."
            )
    compiled = [times[OURS] / times[THEIRS] for result in results if len(times := result.compile_seconds) == 2]
    if compiled:
        said.append(f"First calls, with empty caches, take {_mean(compiled):.2f} of inductor's time, by the same mean.")
    return "\n".join(said)


def first_calls(seconds: Mapping[str, Mapping[str, float]]) -> str:
    """The table of first calls, by case and compiler, and what they come to; a dash where a compiler failed."""
    ratios = {case: each[OURS] / each[THEIRS] for case, each in seconds.items() if len(each) == 2}
    rows = [
        [case, *(_number(each.get(name)) for name in (THEIRS, OURS)), _number(ratios.get(case))]
        for case, each in seconds.items()
    ]
    said = table(("case", "inductor, s", "Dovetail, s", "of inductor's"), rows)
    if ratios:
        said += ["", f"Of inductor's time {_mean([*ratios.values()]):.2f}, by the geometric mean."]
    return "\n".join(said)


def _mean(ratios: Sequence[float]) -> float:
    return exp(sum(map(log, ratios)) / len(ratios))


def speed(each: Measured) -> float | None:
    """Inductor's time over Dovetail's; None where one of them has none."""
    times = each.microseconds
    return times[THEIRS] / times[OURS] if THEIRS in times and OURS in times else None


def _row(each: Measured, bandwidth: float) -> list[str]:
    times, ratio = each.microseconds, speed(each)
    share = each.bytes_moved / (each.on_gpu[OURS] / 1e6) / bandwidth if OURS in each.on_gpu else None
    return [
        each.case,
        *(_microseconds(times.get(name)) for name in (EAGER, THEIRS, OURS)),
        _number(ratio),
        *(_microseconds(each.on_gpu.get(name)) for name in (THEIRS, OURS)),
        _number(share),
        _number(each.on_gpu[COPY] / each.on_gpu[OURS] if OURS in each.on_gpu else None),
        _number(each.error),
        *(_number(each.compile_seconds.get(name)) for name in (THEIRS, OURS)),
        each.problem.strip() or (f"{each.fallbacks} ops fall back to ATen" if each.fallbacks else ""),
    ]


def _microseconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "–"


def _driver() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout.split()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return "unknown"
