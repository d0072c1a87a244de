"""`python -m dovetail.tools.op_db [OP ...]`: compiles PyTorch's own samples of operators and compares with eager."""

import argparse
import multiprocessing
import os
import sys
import time
from concurrent.futures import Future, TimeoutError, as_completed
from pathlib import Path

from pebble import ProcessExpired, ProcessPool
from rich.console import Console
from rich.progress import track

from dovetail.tools.op_db.cases import DTYPES, Case, all_cases
from dovetail.tools.op_db.check import NO_SAMPLE, NOT_RUN, WRONG, Outcome, check
from dovetail.tools.op_db.record import Record
from dovetail.tools.op_db.report import report, summary
from dovetail.tools.options import add_record, add_seconds

_SECONDS = 300  # for one sample
_SAMPLES_OF_ONE_PROCESS = 300  # Dynamo does not give all memory back


def main(arguments: list[str] | None = None) -> int:
    """Returns 1 if any sample is wrong, or eager refuses each of them, else 0."""
    parser = argparse.ArgumentParser(prog="python -m dovetail.tools.op_db", description=__doc__)
    parser.add_argument("ops", nargs="*", metavar="OP", help="names in PyTorch's table, e.g. nn.functional.gelu")
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, metavar="DTYPE", help="default: all; float32 if dynamic")
    parser.add_argument("--dynamic", action="store_true", help="compile for open sizes: torch.compile(dynamic=True)")
    parser.add_argument("--samples", type=int, default=3, help="of each op and element type (default 3)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--device", default="cpu", help="where samples lie: cpu (default) or cuda")
    add_seconds(parser, "run no sample after so many seconds; with --record, the same command goes on from there")
    add_record(parser, "samples")
    parser.add_argument("-o", "--output", type=Path, help="where to write the page, of all that the record has")
    options = parser.parse_args(arguments)
    dtypes = options.dtypes or (("float32",) if options.dynamic else DTYPES)
    cases = list(all_cases(options.ops, dtypes, options.samples, options.device, options.dynamic))
    record = Record(options.record)
    _run([case for case in cases if not record.settled(case)], options.jobs, options.end, record, options.device)
    outcomes = {case: record.outcomes.get(case, Outcome(NOT_RUN)) for case in cases}
    print(summary(outcomes))
    if options.output:
        options.output.write_text(report(outcomes | record.outcomes, options.samples), encoding="utf-8")
    kinds = {outcome.kind for outcome in outcomes.values()}
    refusals = [outcome.why for outcome in outcomes.values() if outcome.kind == NO_SAMPLE and outcome.why]
    if refusals and kinds <= {NO_SAMPLE, NOT_RUN}:
        print(f"op_db: eager refuses every sample that ran; the first one: {refusals[0]}", file=sys.stderr)
        return 1
    return int(WRONG in kinds)


def _run(cases: list[Case], jobs: int, end: float, record: Record, device: str) -> None:
    """Adds the outcomes had before `end`, by the monotonic clock. What ends its process, or never ends, is wrong."""
    console = Console(stderr=True)
    # Importing the table takes a process a quarter of a minute, and asks for GPUs, after which no fork can use them.
    context = multiprocessing.get_context("forkserver" if device == "cpu" else "spawn")
    context.set_forkserver_preload([check.__module__])
    with ProcessPool(jobs, max_tasks=_SAMPLES_OF_ONE_PROCESS, context=context) as pool:
        futures: dict[Future[Outcome], Case] = {
            pool.schedule(check, args=(case,), timeout=_SECONDS): case for case in cases
        }
        for future in track(as_completed(futures), total=len(futures), console=console):
            if time.monotonic() > end:
                pool.stop()
                return
            case, outcome = futures[future], _outcome(future)
            record.add(case, outcome)
            if outcome.kind == WRONG:
                console.print(f"{case}: {outcome.why}", markup=False, highlight=False, soft_wrap=True)


def _outcome(future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except TimeoutError:
        return Outcome(WRONG, f"did not end in {_SECONDS} s")
    except ProcessExpired as error:
        return Outcome(WRONG, f"the process ended with {error.exitcode}")
    except Exception as error:  # of the judge; the other samples go on
        return Outcome(WRONG, f"can't be judged: {type(error).__name__}: {error}")


if __name__ == "__main__":
    sys.exit(main())
