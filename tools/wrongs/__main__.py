"""`python -m dovetail.tools.wrongs [CASE ...]`: runs the table of wrongs; `make wrongs` writes the documents."""

import argparse
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.progress import track

from dovetail.errors import DovetailError
from dovetail.tools.regenerate_docs import documents, found_sections, rewritten
from dovetail.tools.wrongs.cases import CASES, case
from dovetail.tools.wrongs.measure import measure
from dovetail.tools.wrongs.report import sections, store, table


def main(arguments: list[str] | None = None) -> int:
    """0 where Dovetail is right everywhere, 1 where it is not, 2 for arguments that make no sense."""
    options = _parse(arguments)
    try:
        chosen = [case(name) for name in options.case] or list(CASES)
        shown = documents(Path.cwd()) if options.markdown else []
    except DovetailError as error:
        print(f"wrongs: {error}", file=sys.stderr)
        return 2
    console = Console(width=None if sys.stdout.isatty() else 160)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        outcomes = pool.map(lambda each: measure(each, Path(folder), options.device), chosen)
        measured = track(outcomes, "measuring", total=len(chosen), console=console)
        rows = {each.name: row for each, row in zip(chosen, measured, strict=True)}
    console.print(table(chosen, rows))
    if options.markdown:
        store(rows)
    for path in shown:
        text = path.read_text(encoding="utf-8")
        path.write_text(rewritten(text, found_sections(text) | sections()), encoding="utf-8")
    return int(not all(row["dovetail"].right for row in rows.values()))


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m dovetail.tools.wrongs", description=__doc__)
    parser.add_argument("case", nargs="*", metavar="CASE", help="names of cases, e.g. identity; default all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases at a time, default one for each core")
    parser.add_argument("--device", default="cpu", help="where cases make their tensors: cpu (default) or cuda")
    parser.add_argument(
        "--markdown",
        action="store_true",
        help="store the outcomes beside those of other cases and rewrite the documents' tables",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
