"""Benchmark: what our partitions and PyTorch's save for the backward of eight models, in bytes; nothing is timed.

`python benchmark/partition.py [--only MODEL ...] [--json FILE] [-o FILE]`
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from partition_figures import figures
from partition_models import MODELS
from partition_report import page
from rich.console import Console
from rich.markdown import Markdown


def main(arguments: list[str] | None = None) -> int:
    """Counts, prints the page and gives the exit code: 1 if a min-cut of ours saves more bytes than PyTorch's."""
    names = [model.name for model in MODELS]
    parser = argparse.ArgumentParser(description="Counts what partitions save for the backward, ours and PyTorch's.")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="MODEL", help=", ".join(names))
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("-o", dest="output", type=Path, metavar="FILE", help="also write the page to FILE")
    options = parser.parse_args(arguments)
    results = [figures(model) for model in MODELS if model.name in options.only]
    Console(width=None if sys.stdout.isatty() else 120).print(Markdown(page(results)))
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in results], indent=2))
    if options.output:
        options.output.write_text(page(results), encoding="utf-8")
    return int(any(each.min_cut.nbytes > each.pytorch.nbytes for each in results))


if __name__ == "__main__":
    sys.exit(main())
