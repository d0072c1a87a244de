"""Benchmark: CPU seconds of each pass on GPT-2's joint graph at several depths, and how they grow.

`python benchmark/passes.py [--layers N ...] [--repeats N] [-o FILE]`
"""

import argparse
import sys
from pathlib import Path

from pass_figures import figures
from pass_graph import gpt2_joint_graph
from pass_report import LIMIT, allowed_exponent, growth_exponent, page
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import track

DEPTHS = (12, 24, 48)


def main(arguments: list[str] | None = None) -> int:
    """Measures, prints the page and gives the exit code: 1 if 12 layers take too long, or more layers too much more."""
    parser = argparse.ArgumentParser(description="Measures what the passes cost on GPT-2's joint graph.")
    parser.add_argument("--layers", nargs="+", type=int, default=list(DEPTHS), metavar="N", help="depths, at least two")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="runs at each depth")
    parser.add_argument("-o", dest="output", type=Path, metavar="FILE", help="also write the page to FILE")
    options = parser.parse_args(arguments)
    depths = sorted(set(options.layers))
    if len(depths) < 2 or depths[0] < 1:
        parser.error("--layers: expected two or more different depths, from 1 up")
    if options.repeats < 1:
        parser.error(f"--repeats {options.repeats}: expected 1 or more")
    console = Console(width=None if sys.stdout.isatty() else 120)
    texts = {layers: gpt2_joint_graph(layers) for layers in track(depths, "capturing", console=console)}
    results = figures(texts, options.repeats)
    console.print(Markdown(page(results, options.repeats)))
    if options.output:
        options.output.write_text(page(results, options.repeats), encoding="utf-8")
    seconds = {each.layers: each.total for each in results}
    return int(seconds.get(12, 0.0) > LIMIT or growth_exponent(results) > allowed_exponent(results))


if __name__ == "__main__":
    sys.exit(main())
