"""The benchmark's output: one table a figure, and the same as JSON."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from measurement import EAGER, Figures
from rich.table import Table

# Figure, title, factor from its unit in `Figures` to the table's.
TABLES = (
    ("cold_compile", "cold compile, s", 1.0),
    ("warm_compile", "warm compile, s", 1.0),
    ("step", "call, ms", 1e3),
    ("peak", "peak memory of a call, MiB", 2.0**-20),
)


def tables(results: Sequence[Figures], compilers: Sequence[str]) -> list[Table]:
    """One table a figure: medians, then the last compiler's ratio to each of the others (less than 1 is better)."""
    return [_table(results, compilers, figure, title, factor) for figure, title, factor in TABLES]


def _table(results: Sequence[Figures], compilers: Sequence[str], figure: str, title: str, factor: float) -> Table:
    present = {name for result in results for name in getattr(result, figure)}
    names = [name for name in (EAGER, *compilers) if name in present]
    *others, last = names
    table = Table(title=title, caption=f"/: ratio of {last}'s median to the other's")
    table.add_column("case", no_wrap=True)
    for heading in (*names, *(f"/ {other}" for other in others)):
        table.add_column(heading, justify="right")
    for result in results:
        medians = getattr(result, figure)
        values = [f"{medians[name] * factor:.4g}" for name in names]
        ratios = [f"{medians[last] / medians[other]:.2f}" if medians[other] else "" for other in others]
        table.add_row(result.case, *values, *ratios)
    return table


def save_json(results: Sequence[Figures], path: Path) -> None:
    """Writes the medians in seconds and bytes, with the machine's facts that they depend on."""
    machine = {"torch": torch.__version__, "cpus": os.cpu_count(), "threads": torch.get_num_threads()}
    path.write_text(json.dumps({"machine": machine, "results": [asdict(result) for result in results]}, indent=2))
