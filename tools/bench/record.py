"""The raw data of one run as JSON: what docs/benchmark.md shows of each machine."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import torch

from dovetail.tools.bench.figures import Figures
from dovetail.tools.machine import processor

MEASURED = Path(__file__).parent / "measured"
"""One file for each machine; `make docs` writes the page from them and runs nothing."""


@dataclass(frozen=True)
class Machine:
    """Where a run was made: the processor, how many of its cores and threads of PyTorch's, and the versions."""

    processor: str
    cores: int
    threads: int
    versions: dict[str, str]

    @property
    def title(self) -> str:
        """In a few words, e.g. "AMD EPYC, 2 threads"."""
        return f"{self.processor}, {self.threads} thread{'s' if self.threads > 1 else ''}"


def this_machine() -> Machine:
    """The machine that runs this process, and what is installed there."""
    versions = {"torch": torch.__version__, "iree": version("iree-base-compiler"), "python": platform.python_version()}
    return Machine(processor(), len(os.sched_getaffinity(0)), torch.get_num_threads(), versions)


def record(path: Path, results: Sequence[Figures]) -> None:
    """Writes the samples in seconds and bytes, with the machine's facts that they depend on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rounded = json.loads(
        json.dumps([asdict(result) for result in results]), parse_float=lambda text: float(f"{float(text):.4g}")
    )
    stated = {"machine": asdict(this_machine()), "results": rounded}
    path.write_text(json.dumps(stated) + "\n", encoding="utf-8")


def recorded() -> list[tuple[Machine, list[Figures]]]:
    """The machines that figures are recorded of, with few threads first."""
    each = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(MEASURED.glob("*.json"))]
    found = [(Machine(**run["machine"]), [Figures(**figures) for figures in run["results"]]) for run in each]
    return sorted(found, key=lambda pair: pair[0].threads)
