"""`python -m dovetail.tools.fuzz_texts`: runs the commands on seeded mutants of real modules and artifacts."""

import argparse
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dovetail.tools.fuzz_texts.corpus import read_corpus
from dovetail.tools.fuzz_texts.mutant import Mutant, mutant
from dovetail.tools.fuzz_texts.record import Record
from dovetail.tools.fuzz_texts.report import Tally, report
from dovetail.tools.fuzz_texts.trial import try_out, warm_up
from dovetail.tools.options import add_record, seed_range


def main(arguments: list[str] | None = None) -> int:
    """Returns 1 if a mutant ended in anything but a result or a clear error, else 0."""
    options = _parser().parse_args(arguments)
    first, last = options.seeds
    tally, record = Tally(options.seeds), Record(options.record)
    with tempfile.TemporaryDirectory(prefix="dovetail-fuzz-") as name:
        folder = Path(name)
        (folder / "corpus").mkdir()
        corpus = read_corpus(options.tests, folder / "corpus")
        warm_up()
        columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
        # A thread that draws would hold locks in a forked process.
        with Progress(*columns, console=Console(stderr=True), auto_refresh=False) as progress:
            task = progress.add_task("", total=last - first)
            for seed in range(first, last):
                made = mutant(seed, corpus)
                outcome = record.settled(made)
                if outcome is None:
                    outcome = try_out(made, folder / "trial")
                    record.add(made, outcome)
                tally.add(made, outcome)
                if outcome.is_finding:
                    _keep(made, options.findings)
                    print(f"{seed}: {' '.join(made.command)}: {outcome.kind}: {outcome.message}", flush=True)
                progress.update(task, advance=1, description=f"{tally.findings} findings", refresh=seed % 20 == 0)
    text = report(tally)
    print(text)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    return int(bool(tally.findings))


def _keep(made: Mutant, folder: Path) -> None:
    """Leaves the input of a finding where it can be looked at."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{made.seed}.{made.kind}").write_bytes(made.contents)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dovetail.tools.fuzz_texts", description=__doc__.partition(": ")[2])
    parser.add_argument("--seeds", type=seed_range, default=(0, 5000), metavar="FIRST:LAST", help="default: 0:5000")
    parser.add_argument("--tests", type=Path, default=Path("test"), metavar="FOLDER", help="modules in .mlir files")
    parser.add_argument(
        "--findings", type=Path, default=Path("build/fuzz-texts"), metavar="FOLDER", help="keeps inputs of findings"
    )
    add_record(parser, "mutants")
    parser.add_argument("-o", dest="output", type=Path, metavar="FILE", help="where to write the report")
    return parser


if __name__ == "__main__":
    sys.exit(main())
