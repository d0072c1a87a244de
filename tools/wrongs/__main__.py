"""`python -m dovetail.tools.wrongs [CASE ...]`: runs the table of wrongs; `make wrongs` writes the documents."""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from rich.console import Console
from rich.progress import track

from dovetail.errors import DovetailError
from dovetail.tools.options import add_seconds
from dovetail.tools.regenerate_docs import documents, found_sections, rewritten
from dovetail.tools.wrongs.case import Case
from dovetail.tools.wrongs.cases import CASES, case
from dovetail.tools.wrongs.measure import measure
from dovetail.tools.wrongs.outcome import Outcome
from dovetail.tools.wrongs.report import line, sections, store, table


def main(arguments: list[str] | None = None) -> int:
    """0 where Dovetail is right everywhere, 1 where it is not or not known to be, 2 for senseless arguments."""
    options = _parse(arguments)
    try:
        chosen = [case(name) for name in options.case] or list(CASES)
        shown = documents(Path.cwd()) if options.markdown else []
    except DovetailError as error:
        print(f"wrongs: {error}", file=sys.stderr)
        return 2
    console = Console(width=None if sys.stdout.isatty() else 160)
    found = {}
    for each, row in track(_measured(chosen, options), "measuring", total=len(chosen), console=console):
        found[each.name] = row
        console.print(line(each, row), markup=False, highlight=False, soft_wrap=True)
    left = [each.name for each in chosen if each.name not in found]
    chosen = [each for each in chosen if each.name in found]
    rows = {each.name: found[each.name] for each in chosen}
    console.print(table(chosen, rows))
    right = sum(row["dovetail"].right for row in rows.values())
    console.print(f"{right} of {len(rows)} rows are right with Dovetail", highlight=False)
    if options.markdown:
        store(rows)
    for path in shown:
        text = path.read_text(encoding="utf-8")
        path.write_text(rewritten(text, found_sections(text) | sections()), encoding="utf-8")
    if left:
        console.print(f"not measured in time: {', '.join(left)}", highlight=False)
    return int(bool(left) or right < len(rows))


def _measured(chosen: list[Case], options: argparse.Namespace) -> Iterator[tuple[Case, dict[str, Outcome]]]:
    """The rows of the cases that start before `options.end`, by the monotonic clock, as they end."""

    def row(each: Case, folder: Path) -> dict[str, Outcome] | None:
        return measure(each, folder, options.device) if time.monotonic() < options.end else None

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        rows = {pool.submit(row, each, Path(folder)): each for each in chosen}
        for future in as_completed(rows):
            if (found := future.result()) is not None:
                yield rows[future], found


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m dovetail.tools.wrongs", description=__doc__)
    parser.add_argument("case", nargs="*", metavar="CASE", help="names of cases, e.g. identity; default all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases at a time, default one for each core")
    parser.add_argument("--device", default="cpu", help="where cases make their tensors: cpu (default) or cuda")
    add_seconds(parser, "start no case after so many seconds, and name those left")
    parser.add_argument(
        "--markdown",
        action="store_true",
        help="store the outcomes beside those of other cases and rewrite the documents' tables",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
