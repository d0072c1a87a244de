"""`python -m dovetail.tools.gpu`: the tests and the benchmark that need an NVIDIA GPU, and one report of them."""

import argparse
import subprocess
import sys
import xml.etree.ElementTree
from datetime import date
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


def main(arguments: list[str] | None = None) -> int:
    """Tests, measures, writes the report; the exit status says whether all tests passed and no case had a problem."""
    options = _parse(arguments)
    if not torch.cuda.is_available():
        print("no NVIDIA GPU that this PyTorch can use", file=sys.stderr)
        return 2
    begin = perf_counter()
    said = ["# Report of a GPU", "", f"Written by `python -m dovetail.tools.gpu` on {date.today().isoformat()}.", ""]
    said += [report.machine(options.commit), ""]
    run = TestRun("not run", (), 0.0)
    if "tests" in options.only:
        run = run_tests(options.root, options.seconds * 0.6, options.select)
        said += ["## Tests", "", report.outcome(run), ""]
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
    return int(bool(run.failures) or any(each.problem for each in results))


def run_tests(root: Path, seconds: float, select: str) -> TestRun:
    """Runs the tests below `root` that need a GPU."""
    begin = perf_counter()
    with TemporaryDirectory() as folder:
        junit = Path(folder, "junit.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-m", "cuda", "-p", "no:cacheprovider", f"--junitxml={junit}"]
        command += ["-k", select] if select else []
        try:
            ran = subprocess.run([*command, "test"], cwd=root, timeout=seconds, capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            return TestRun(f"stopped after {seconds:.0f} s", ("time limit",), seconds)
        print(ran.stdout[-8000:], ran.stderr[-2000:], flush=True)
        failures = tuple(_failures(junit)) if junit.exists() else ("pytest",)
    summary = (ran.stdout.strip().splitlines() or ["no output"])[-1].strip("= ")
    return TestRun(summary, failures, perf_counter() - begin)


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
    parser.add_argument("--only", nargs="+", choices=("tests", "bench"), default=["tests", "bench"])
    parser.add_argument("--select", default="", metavar="WORDS", help="pytest's -k: only such tests")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes: shows that it runs, not how fast")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
