"""Recorded runs as Markdown: the goals of all machines, and each machine's figures."""

from collections.abc import Sequence
from statistics import median

from dovetail.tools.bench.figures import DYNAMIC, EAGER, TRACING, Figures
from dovetail.tools.bench.goals import GOALS, OURS, THEIRS
from dovetail.tools.bench.record import Machine, recorded
from dovetail.tools.markdown import table

_COMPILERS = (EAGER, THEIRS, OURS, DYNAMIC, TRACING)
_RATIOS = {
    f"{OURS} / {EAGER}": (OURS, EAGER),
    f"{OURS} / {THEIRS}": (OURS, THEIRS),
    "dynamic / static": (DYNAMIC, OURS),
}
_NOTHING = "–"
# Figure, title, factor from its unit in `Figures` to the table's.
_TABLES = (
    ("step", "One call, ms", 1e3),
    ("cold_compile", "First call in a new process, caches empty, s", 1.0),
    ("warm_compile", "First call in a new process, caches filled, s", 1.0),
    ("peak", "Peak memory of a call, MiB", 2.0**-20),
)


def sections() -> dict[str, str]:
    """The generated sections of docs/benchmark.md."""
    found = recorded()
    return {
        "bench:goals": goals(found),
        "bench:figures": "\n".join(figures(machine, results) for machine, results in found),
    }


def goals(found: Sequence[tuple[Machine, Sequence[Figures]]]) -> str:
    """A row for each goal, a column for each machine: geometric mean, and the worst case; bold is not reached."""
    rows = ([goal.what, goal.asked, *(goal.found(results) for _, results in found)] for goal in GOALS)
    return "\n".join(table(["goal", "asked", *(machine.title for machine, _ in found)], rows)) + "\n"


def figures(machine: Machine, results: Sequence[Figures]) -> str:
    """Medians of every case, and as shares: Dovetail's of eager's and inductor's, with open sizes of that without."""
    versions = ", ".join(f"{name} {number}" for name, number in machine.versions.items())
    lines = [f"## {machine.title}", "", f"{versions}; {machine.cores} cores.", ""]
    for figure, title, factor in _TABLES:
        lines += [f"### {title}", "", *told, ""] if (told := _table(results, figure, factor)) else []
    return "\n".join(lines)


def _table(results: Sequence[Figures], figure: str, factor: float) -> list[str]:
    """The cases that have the figure, without the columns in which none has anything."""
    samples = {result.case: getattr(result, figure) for result in results if getattr(result, figure)}
    found = {case: {name: median(times) for name, times in of_case.items()} for case, of_case in samples.items()}
    columns = {name: [_scaled(medians, name, factor) for medians in found.values()] for name in _COMPILERS}
    columns |= {title: [_ratio(medians, *pair) for medians in found.values()] for title, pair in _RATIOS.items()}
    told = {title: cells for title, cells in columns.items() if set(cells) != {_NOTHING}}
    return table(["case", *told], zip(found, *told.values(), strict=True)) if found else []


def _scaled(medians: dict[str, float], name: str, factor: float) -> str:
    return f"{medians[name] * factor:.4g}" if name in medians else _NOTHING


def _ratio(medians: dict[str, float], one: str, other: str) -> str:
    return f"{medians[one] / medians[other]:.2f}" if one in medians and medians.get(other) else _NOTHING
