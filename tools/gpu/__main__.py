"""`python -m dovetail.tools.gpu`: the tests and the benchmark that need an NVIDIA GPU, and one report of them."""

import argparse
import sys
from datetime import date
from functools import partial
from math import inf
from pathlib import Path
from time import perf_counter

import torch

from dovetail.tools.gpu import report
from dovetail.tools.gpu.cases import CASES
from dovetail.tools.gpu.checks import CHECKS, GRACE, run_checks
from dovetail.tools.gpu.measure import Measured, copy_bandwidth, first_calls_named, measure_named
from dovetail.tools.gpu.side_by_side import on_each_gpu

SMOKE = 64
"""What sizes are divided by for a smoke run."""

TESTS_SHARE = 0.5
"""Of the time, with what the checks take to say what they found, where the benchmark has the rest."""


def main(arguments: list[str] | None = None) -> int:
    """Tests, measures, writes the report; the exit status says whether all tests passed and no case had a problem."""
    options = _parse(arguments)
    if not torch.cuda.is_available():
        print("no NVIDIA GPU that this PyTorch can use", file=sys.stderr)
        return 2
    deadline = perf_counter() + options.seconds
    said = ["# Report of a GPU", "", f"Written by `python -m dovetail.tools.gpu` on {date.today().isoformat()}.", ""]
    said += [report.machine(options.commit), ""]
    seconds = options.seconds * (TESTS_SHARE if "bench" in options.only else 1.0) - GRACE
    runs = run_checks(options.root, CHECKS, seconds) if "tests" in options.only else []
    said += ["## Tests", ""] if runs else []
    for run in runs:
        said += [report.outcome(run), ""]
    _write(options.out, said)
    results = _bench(options, said, deadline) if "bench" in options.only else {}
    first = _first_calls(options, said) if "first-calls" in options.only else {}
    is_bad = any(each.failures for each in runs) or any(result.problem for result in results.values())
    return int(is_bad or any(len(seconds) < 2 for seconds in first.values()))


def _bench(options: argparse.Namespace, said: list[str], deadline: float) -> dict[str, Measured]:
    """Measures the chosen cases, of which none is begun after `deadline`, and adds to the report after each."""
    chosen = [case.name for case in CASES if case.name in options.cases]
    bandwidth, made = copy_bandwidth(), dict[str, Measured]()
    measured = partial(measure_named, shrink=options.shrink)
    lines: list[str] = []
    for name, result in on_each_gpu(measured, chosen, torch.cuda.device_count(), deadline):
        print(result, flush=True)
        made[name] = result
        in_order = [made[each] for each in chosen if each in made]
        lines = ["## Speed", "", report.figures(in_order, bandwidth), ""]
        _write(options.out, [*said, *lines])
    said += lines
    late = [f"`{name}`" for name in chosen if name not in made]
    said += [f"The time was over before {', '.join(late)}.", ""] if late else []
    _write(options.out, said)
    return made


def _first_calls(options: argparse.Namespace, said: list[str]) -> dict[str, dict[str, float]]:
    """Times those of the chosen models, and adds to the report."""
    chosen = [case.name for case in CASES if case.is_timed_cold and case.name in options.cases]
    timed = partial(first_calls_named, shrink=options.shrink)
    made = dict(on_each_gpu(timed, chosen, torch.cuda.device_count(), inf))
    first = {name: made[name] for name in chosen}
    said += ["## First calls, each in a new process with empty caches", "", report.first_calls(first)]
    _write(options.out, said)
    return first


def _write(out: Path, said: list[str]) -> None:
    out.write_text("\n".join(said).rstrip() + "\n", encoding="utf-8")


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m dovetail.tools.gpu", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/cuda-report.md"), help="where the report goes")
    parser.add_argument("--root", type=Path, default=Path(), help="the source tree, which has the tests")
    parser.add_argument("--commit", default="unknown", help="what the report calls the source")
    parser.add_argument("--seconds", type=float, default=540.0, help="no test or case is begun after so long")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=("tests", "bench", "first-calls"),
        default=["tests", "bench"],
        help="default: tests bench; first calls take two processes a model, three to four minutes in all",
    )
    names = [case.name for case in CASES]
    parser.add_argument(
        "--cases", nargs="+", choices=names, metavar="CASE", default=names, help="of the benchmark; default: all"
    )
    parser.add_argument(
        "--smoke",
        dest="shrink",
        action="store_const",
        const=SMOKE,
        default=1,
        help="tiny sizes: shows that it runs, not how fast",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
