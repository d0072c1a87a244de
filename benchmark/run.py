"""Benchmark: eager, inductor and Dovetail side by side in one process.

`python benchmark/run.py [--only NAME ...] [--json FILE] [--smoke]`
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from cases import CASES
from measurement import SMOKE, Effort, measure
from memory import settle_allocator
from report import save_json, tables
from rich.console import Console
from rich.progress import track

COMPILERS = ("inductor", "dovetail")


def main(arguments: list[str] | None = None, compilers: Sequence[str] = COMPILERS) -> int:
    """Measures, prints the tables and gives the exit code; the ratios are those of the last of `compilers`."""
    options = _parse(arguments)
    torch._logging.set_logs(dynamo=logging.ERROR)  # Dynamo warns that it doesn't trace AdamW's profiler marks
    settle_allocator()
    for compiler in compilers:  # starts worker processes, loads compilers: once a process, and no case's cost
        torch.compile(torch.neg, backend=compiler)(torch.ones(1))

    # A log has no width of its own, and 80 columns would cut the tables' words.
    console = Console(width=None if sys.stdout.isatty() else 120)
    effort = SMOKE if options.smoke else Effort()
    chosen = [CASES[name] for name in options.only]
    results = [measure(case, compilers, effort) for case in track(chosen, "measuring", console=console)]
    for table in tables(results, compilers):
        console.print(table)
    if options.json:
        save_json(results, options.json)
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures eager, inductor and Dovetail side by side.")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), metavar="NAME", help=", ".join(CASES))
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument(
        "--smoke", action="store_true", help="tiny sizes, few repeats: shows that it runs, not how fast"
    )
    options = parser.parse_args(arguments)
    if options.json and not options.json.parent.is_dir():
        parser.error(f"--json {options.json}: there is no folder {options.json.parent}")
    return options


if __name__ == "__main__":
    sys.exit(main())
