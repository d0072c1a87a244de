"""The figures of one sweep as JSON: what docs/op-sweep.md shows of each CPU."""

import json
import platform
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from pathlib import Path

from dovetail.tools.sweep.cpu import Cpu
from dovetail.tools.sweep.findings import Finding

MEASURED = Path(__file__).parent / "measured"
"""One file for each CPU; `make docs` writes the page from them and compiles nothing."""

PARTS = ("met", "replaced")
"""What graphs hand to IREE, and ops as they are that a replacement always comes before."""


def record(path: Path, cpu: Cpu, found: Sequence[Finding], seconds: float) -> None:
    """Writes what was found on `cpu`, with the day and the versions of all that took part."""
    recorded = {
        "cpu": asdict(cpu),
        "day": date.today().isoformat(),
        "versions": {
            "iree": version("iree-base-compiler"),
            "torch": version("torch"),
            "python": platform.python_version(),
        },
        "seconds": round(seconds),
        **{part: _part([each for each in found if each.is_replaced == (part == "replaced")]) for part in PARTS},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


def recorded() -> list[tuple[Cpu, dict]]:
    """The CPUs that figures are recorded of, and those; what was compiled for the machine itself comes first."""
    each = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(MEASURED.glob("*.json"))]
    cpus = [Cpu(**figures.pop("cpu")) for figures in each]
    return sorted(zip(cpus, each, strict=True), key=lambda pair: (pair[0].asked != "host", pair[0].title))


def _part(found: Sequence[Finding]) -> dict:
    left: dict[tuple[str, str], set[str]] = defaultdict(set)
    for finding in found:
        if finding.left:
            left[finding.op, finding.left].add(finding.dtype)
    wrong = {each.case: each.wrong for each in found if each.wrong}
    return {
        "cases": len(found),
        "right": sum(not each.left and not each.wrong for each in found),
        "left": [[op, reason, sorted(types)] for (op, reason), types in sorted(left.items())],
        "wrong": dict(sorted(wrong.items())),
    }
