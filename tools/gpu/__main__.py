"""`python -m dovetail.tools.gpu`: the tests and the benchmark that need an NVIDIA GPU, and one report of them."""

import argparse
import subprocess
import sys
import xml.etree.ElementTree
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import torch

from dovetail.tools.gpu import report
from dovetail.tools.gpu.cases import CASES
from dovetail.tools.gpu.measure import Measured, copy_bandwidth, measure
from dovetail.tools.gpu.report import TestRun

SMOKE = 64
"""What sizes are divided by for a smoke run."""

TESTS = {
    "tests that need a GPU": ["-m", "cuda", "test"],
    "semantics and mixed devices, on a GPU": ["--device", "cuda", "test/devices", "test/semantics"],
}
"""What pytest is told, by what it runs."""

TESTS_SHARE = 0.5
"""Of the time."""

PROCESSES = 8


def main(arguments: list[str] | None = None) -> int:
    """Tests, measures, writes the report; the exit status says whether all tests passed and no case had a problem."""
    options = _parse(arguments)
    if not torch.cuda.is_available():
        print("no NVIDIA GPU that this PyTorch can use", file=sys.stderr)
        return 2
    begin = perf_counter()
    said = ["# Report of a GPU", "", f"Written by `python -m dovetail.tools.gpu` on {date.today().isoformat()}.", ""]
    said += [report.machine(options.commit), ""]
    runs: list[TestRun] = []
    for name, words in TESTS.items() if "tests" in options.only else ():
        left = options.seconds * TESTS_SHARE - (perf_counter() - begin)
        runs.append(run_tests(options.root, name, words, max(left, 1.0)))
        said += [] if runs[1:] else ["## Tests", ""]
        said += [report.outcome(runs[-1]), ""]
        _write(options.out, said)
    results: list[Measured] = []
    if "bench" in options.only:
        bandwidth = copy_bandwidth()
        for case in CASES:
            if perf_counter() - begin > options.seconds:
                said += [f"The time was over before `{case.name}`.", ""]
                break
            results.append(measure(case, shrink=SMOKE if options.smoke else 1))
            print(results[-1], flush=True)
            _write(options.out, [*said, "## Speed", "", report.figures(results, bandwidth)])
    return int(any(each.failures for each in runs) or any(each.problem for each in results))


def run_tests(root: Path, name: str, arguments: list[str], seconds: float) -> TestRun:
    """Runs tests below `root`, in several processes where pytest-xdist is installed."""
    begin = perf_counter()
    with TemporaryDirectory() as folder:
        junit = Path(folder, "junit.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={junit}", *arguments]
        command += ["-n", str(PROCESSES)] if find_spec("xdist") else []
        try:
            ran = subprocess.run(command, cwd=root, timeout=seconds, capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            return TestRun(name, f"stopped after {seconds:.0f} s", ("time limit",), seconds)
        print(ran.stdout[-8000:], ran.stderr[-2000:], flush=True)
        failures = tuple(_failures(junit)) if junit.exists() else ("pytest",)
    summary = (ran.stdout.strip().splitlines() or ["no output"])[-1].strip("= ")
    return TestRun(name, summary, failures, perf_counter() - begin)


def _failures(junit: Path) -> list[str]:
    cases = xml.etree.ElementTree.parse(junit).getroot().iter("testcase")
    return [
        f"{each.get('classname')}::{each.get('name')}"
        for each in cases
        if each.find("failure") is not None or each.find("error") is not None
    ]


def _write(out: Path, said: list[str]) -> None:
    out.write_text("\n".join(said).rstrip() + "\n", encoding="utf-8")


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m dovetail.tools.gpu", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/cuda-report.md"), help="where the report goes")
    parser.add_argument("--root", type=Path, default=Path(), help="the source tree, which has the tests")
    parser.add_argument("--commit", default="unknown", help="what the report calls the source")
    parser.add_argument("--seconds", type=float, default=540.0, help="no test or case is begun after so long")
    parser.add_argument(
        "--only", nargs="+", choices=("tests", "bench"), default=["tests", "bench"], help="default: both"
    )
    parser.add_argument("--smoke", action="store_true", help="tiny sizes: shows that it runs, not how fast")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
