"""`python -m dovetail.tools.bench`: eager, inductor and Dovetail side by side in one process."""

import argparse
import logging
import sys
from pathlib import Path

import torch
from rich.console import Console
from rich.progress import track

from dovetail.tools.bench.cases import CASES
from dovetail.tools.bench.goals import OURS, THEIRS
from dovetail.tools.bench.measurement import SMOKE, Effort, measure
from dovetail.tools.bench.memory import settle_allocator
from dovetail.tools.bench.record import record, this_machine
from dovetail.tools.bench.report import figures, goals


def main(arguments: list[str] | None = None) -> int:
    """Measures, prints the tables as Markdown and gives the exit status."""
    options = _parse(arguments)
    torch._logging.set_logs(dynamo=logging.ERROR)  # Dynamo warns that it doesn't trace AdamW's profiler marks
    settle_allocator()
    for compiler in (THEIRS, OURS):  # starts worker processes, loads compilers: once a process, and no case's cost
        torch.compile(torch.neg, backend=compiler)(torch.ones(1))
    effort = SMOKE if options.smoke else Effort()
    results = []
    for name in track(options.only, "measuring", console=Console(stderr=True)):
        results.append(measure(CASES[name], (THEIRS, OURS), effort))
        if options.record:  # after each case, so that a run that is cut off leaves what it had
            record(options.record, results)
    print(figures(this_machine(), results))
    print(goals([(this_machine(), results)]))
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m dovetail.tools.bench", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), metavar="NAME", help=", ".join(CASES))
    parser.add_argument("--record", type=Path, metavar="FILE", help="also write all samples to FILE, as JSON")
    parser.add_argument(
        "--smoke", action="store_true", help="tiny sizes, few repeats: shows that it runs, not how fast"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
