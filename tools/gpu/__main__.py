"""`python -m dovetail.tools.gpu`: the tests and the benchmark that need an NVIDIA GPU, and one report of them."""

import argparse
import sys
from datetime import date
from pathlib import Path
from time import perf_counter

import torch

from dovetail.tools.gpu import report
from dovetail.tools.gpu.cases import CASES
from dovetail.tools.gpu.checks import CHECKS, GRACE, run_checks
from dovetail.tools.gpu.measure import Measured, copy_bandwidth, first_calls, measure

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
    begin = perf_counter()
    said = ["# Report of a GPU", "", f"Written by `python -m dovetail.tools.gpu` on {date.today().isoformat()}.", ""]
    said += [report.machine(options.commit), ""]
    seconds = options.seconds * (TESTS_SHARE if "bench" in options.only else 1.0) - GRACE
    runs = run_checks(options.root, CHECKS, seconds) if "tests" in options.only else []
    said += ["## Tests", ""] if runs else []
    for run in runs:
        said += [report.outcome(run), ""]
    _write(options.out, said)
    results: list[Measured] = []
    if "bench" in options.only:
        bandwidth = copy_bandwidth()
        for case in (each for each in CASES if each.name in options.cases):
            if perf_counter() - begin > options.seconds:
                said += [f"The time was over before `{case.name}`.", ""]
                break
            results.append(measure(case, shrink=SMOKE if options.smoke else 1))
            print(results[-1], flush=True)
            _write(options.out, [*said, "## Speed", "", report.figures(results, bandwidth)])
        said += ["## Speed", "", report.figures(results, bandwidth), ""]
    first: dict[str, dict[str, float]] = {}
    if "first-calls" in options.only:
        for case in (each for each in CASES if each.is_timed_cold and each.name in options.cases):
            first[case.name] = first_calls(case, shrink=SMOKE if options.smoke else 1)
            print(case.name, first[case.name], flush=True)
        said += ["## First calls, each in a new process with empty caches", "", report.first_calls(first)]
        _write(options.out, said)
    is_bad = any(each.failures for each in runs) or any(result.problem for result in results)
    return int(is_bad or any(len(seconds) < 2 for seconds in first.values()))


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
    parser.add_argument("--smoke", action="store_true", help="tiny sizes: shows that it runs, not how fast")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
