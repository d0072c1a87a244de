"""`python -m dovetail.tools.sweep [OP ...]`: runs the sweep; `make sweep` records that of all ops."""

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

from dovetail.errors import DovetailError
from dovetail.tools.sweep.cpu import describe
from dovetail.tools.sweep.findings import Finding, findings
from dovetail.tools.sweep.record import record


def main() -> int:
    """Returns 1 if anything that a model's graph can hand to IREE is wrong or does not compile, else 0."""
    parser = argparse.ArgumentParser(prog="python -m dovetail.tools.sweep", description=__doc__)
    parser.add_argument("ops", nargs="*", metavar="OP", help="ATen names without overload, e.g. maximum; default all")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes at once; default all")
    parser.add_argument(
        "--cpu", default="host", help="LLVM's name of the CPU to compile for; this one must run its code"
    )
    parser.add_argument("--record", type=Path, metavar="FILE", help="where to write the figures, as JSON")
    options = parser.parse_args()
    started = time.perf_counter()
    try:
        cpu = describe(options.cpu)
        print(f"{cpu.title}, {options.jobs} of {cpu.cores} cores", flush=True)
        found: list[Finding] = []
        for name, part in findings(options.ops, cpu, options.jobs):
            _show(name, part)
            found += part
    except DovetailError as error:
        print(f"sweep: {error}", file=sys.stderr)
        return 2
    seconds = time.perf_counter() - started
    met = [each for each in found if not each.is_replaced]
    print(f"all that a graph hands to IREE: {_counts(met)}; in {seconds:.0f} s")
    if any(each.left for each in met):
        print("what changes a reason to leave an op to ATen: docs/ops.md")
    if options.record:
        record(options.record, cpu, found, seconds)
    return int(any(each.wrong for each in met))


def _show(name: str, found: list[Finding]) -> None:
    for what, part in (
        ("as it is, where a replacement comes first", [each for each in found if each.is_replaced]),
        ("as a graph has it", [each for each in found if not each.is_replaced]),
    ):
        if part:
            print(f"{name}, {what}: {_counts(part)}", flush=True)
        for reason, count in Counter(each.left for each in part if each.left).most_common():
            first = next(each.case for each in part if each.left == reason)
            print(f"  {count} left to ATen: {reason}, as {first}", flush=True)
        for each in part:
            if each.wrong:
                print(f"  {each.case}: {each.wrong}", flush=True)


def _counts(found: list[Finding]) -> str:
    left, wrong = sum(bool(each.left) for each in found), sum(bool(each.wrong) for each in found)
    return f"{len(found) - left - wrong} right, {left} left to ATen, {wrong} wrong"


if __name__ == "__main__":
    sys.exit(main())
