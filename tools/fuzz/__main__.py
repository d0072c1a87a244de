"""`python -m dovetail.tools.fuzz`: runs seeded random programs eagerly and compiled, and reports what differs."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dovetail.tools.fuzz.backends import BACKENDS
from dovetail.tools.fuzz.causes import causes
from dovetail.tools.fuzz.check import Outcome
from dovetail.tools.fuzz.record import Record
from dovetail.tools.fuzz.report import Tally, report, summary
from dovetail.tools.fuzz.seeds import KINDS, THROUGH_IREE
from dovetail.tools.fuzz.workers import Job, Workers
from dovetail.tools.options import add_record, add_seconds, seed_range


def main(arguments: list[str] | None = None) -> int:
    """Returns 1 if what `--backend` compiles shows anything differently, else 0."""
    options = _parser().parse_args(arguments)
    record = Record(options.record)
    tallies, different = [], []
    for kind in options.kinds:
        tally, found = _run(kind, options.backend, options.seeds, options, record)
        tallies += [tally, *_elsewhere(kind, options.backend, record)]
        different += found
        if options.inductor:
            tallies.append(_run(kind, "inductor", options.inductor, options, record)[0])
    for text in causes(different, options.minimise, options.jobs):
        print(text, flush=True)
    text = report(tallies)
    print(text)
    print(*map(summary, tallies), sep="\n")
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    return int(bool(different))


def _run(
    kind: str, backend: str, seeds: tuple[int, int], options: argparse.Namespace, record: Record
) -> tuple[Tally, list[tuple[Job, Outcome]]]:
    """Runs the seeds that `record` has not settled, with progress; returns the counts, and the outcomes that differ."""
    every = options.iree_every if backend == "dovetail" else 0
    if every and kind in THROUGH_IREE:
        every = 1
    jobs = [Job(seed, backend, every > 0 and seed % every == 0, kind) for seed in range(*seeds)]
    tally = Tally(kind, backend, seeds)
    settled = {job: outcome for job in jobs if (outcome := record.settled(job)) is not None}
    for job, outcome in settled.items():
        tally.add(job.seed, outcome, job.iree)
    # What differed earlier runs last, so that a run of some seconds does not spend them on it again.
    jobs = sorted((job for job in jobs if job not in settled), key=lambda job: job in record.outcomes)
    unsettled = {job: record.outcomes[job] for job in jobs if job in record.outcomes}
    different: list[tuple[Job, Outcome]] = []
    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=len(jobs))
        for job, outcome in Workers(options.jobs, options.device).run(jobs, options.end):
            unsettled.pop(job, None)
            tally.add(job.seed, outcome, job.iree)
            record.add(job, outcome)
            if outcome.found:
                different.append((job, outcome))
                where = f"{backend}, {kind} seed {job.seed}{f', {outcome.form}' if outcome.form else ''}"
                said = " ".join(f"{where}: {outcome.found[0]}".split())
                console.print(said[:500], markup=False, highlight=False, soft_wrap=True)
            progress.update(task, advance=1, description=f"{backend}, {kind}: {len(different)} different")
    # A difference whose turn did not come is still one.
    for job, outcome in unsettled.items():
        tally.add(job.seed, outcome, job.iree)
    different += unsettled.items()
    tally.again, tally.earlier = (
        sum((job.kind, job.backend) == (kind, backend) and seeds[0] <= job.seed < seeds[1] for job in each)
        for each in (record.again, record.earlier)
    )
    return tally, different


def _elsewhere(kind: str, backend: str, record: Record) -> Iterator[Tally]:
    """The counts of what ran with other PyTorches."""
    for version, outcomes in record.elsewhere.items():
        ran = {job: outcome for job, outcome in outcomes.items() if (job.kind, job.backend) == (kind, backend)}
        if ran:
            seeds = sorted(job.seed for job in ran)
            tally = Tally(kind, backend, (seeds[0], seeds[-1] + 1), torch=version)
            for job, outcome in ran.items():
                tally.add(job.seed, outcome, job.iree)
            tally.again = tally.statuses["different"]
            yield tally


def _kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(text.split(","))
    if not set(kinds) <= set(KINDS):
        raise argparse.ArgumentTypeError(f"'{text}' names no kinds of programs, expected some of {','.join(KINDS)}")
    return kinds


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dovetail.tools.fuzz", description=__doc__)
    parser.add_argument("--seeds", type=seed_range, default=(0, 100), metavar="FIRST:END", help="default 0:100")
    parser.add_argument(
        "--kinds",
        type=_kinds,
        default=KINDS,
        metavar="KIND,...",
        help="alias: programs of views and writes; compute: programs of many ops, in several forms, judged by double "
        "precision; dynamic: such programs, whose calls have other sizes each; data: such, with sizes that only data "
        "tells; derivatives: such, whose callers take derivatives in other ways; errors: such with a line that eager "
        "refuses (default: all)",
    )
    parser.add_argument(
        "--backend",
        choices=list(BACKENDS),
        default="dovetail",
        help="what to compare with eager; eager-check runs Dynamo's graphs as they are, run-check is dovetail, which "
        "then runs each module before and after each pass and compares",
    )
    add_seconds(parser, "stop after so many seconds, amid programs; with --record, the same command goes on from there")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default 2)")
    parser.add_argument("--device", default="cpu", help="where programs make their tensors: cpu (default) or cuda")
    parser.add_argument(
        "--iree-every",
        type=int,
        default=5,
        metavar="N",
        help="compile the regions of each N-th seed with IREE (default 5: all large programs and as many small ones), "
        "those of the others run through ATen; 0 for none; of kind errors, those of all",
    )
    parser.add_argument(
        "--minimise",
        type=int,
        default=2,
        metavar="N",
        help="print minimal programs of so many seeds a kind (default 2)",
    )
    parser.add_argument(
        "--inductor", type=seed_range, metavar="FIRST:END", help="run these seeds through inductor too, for the report"
    )
    add_record(parser, "programs")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to write the report, as Markdown")
    return parser


if __name__ == "__main__":
    sys.exit(main())
