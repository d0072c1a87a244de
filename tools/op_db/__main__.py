"""`python -m dovetail.tools.op_db [OP ...]`: compiles PyTorch's own samples of operators and compares with eager."""

import argparse
import multiprocessing
import os
import sys
from concurrent.futures import TimeoutError
from pathlib import Path

from pebble import ProcessExpired, ProcessFuture, ProcessPool
from rich.console import Console
from rich.progress import track

from dovetail.tools.op_db.cases import DTYPES, Case, all_cases
from dovetail.tools.op_db.check import WRONG, Outcome, check
from dovetail.tools.op_db.report import report, summary

_SECONDS = 300  # for one sample
_SAMPLES_OF_ONE_PROCESS = 300  # Dynamo does not give all memory back


def main(arguments: list[str] | None = None) -> int:
    """Returns 1 if any sample is wrong, else 0."""
    parser = argparse.ArgumentParser(prog="python -m dovetail.tools.op_db", description=__doc__)
    parser.add_argument("ops", nargs="*", metavar="OP", help="names in PyTorch's table, e.g. nn.functional.gelu")
    parser.add_argument("--dtypes", nargs="+", default=DTYPES, choices=DTYPES, metavar="DTYPE")
    parser.add_argument("--samples", type=int, default=3, help="of each op and element type (default 3)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("-o", "--output", type=Path, help="where to write the page")
    options = parser.parse_args(arguments)
    cases = list(all_cases(options.ops, options.dtypes, options.samples))
    outcomes = _run(cases, options.jobs)
    print(summary(outcomes))
    if options.output:
        options.output.write_text(report(outcomes, options.samples), encoding="utf-8")
    return int(any(outcome.kind == WRONG for outcome in outcomes.values()))


def _run(cases: list[Case], jobs: int) -> dict[Case, Outcome]:
    """Each case's outcome. A sample that takes its process down, or never ends, is wrong."""
    outcomes = {}
    console = Console(stderr=True)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([check.__module__])  # importing the table takes a process a quarter of a minute
    with ProcessPool(jobs, max_tasks=_SAMPLES_OF_ONE_PROCESS, context=context) as pool:
        futures = {case: pool.schedule(check, args=(case,), timeout=_SECONDS) for case in cases}
        for case, future in track(futures.items(), console=console):
            outcomes[case] = _outcome(future)
            if outcomes[case].kind == WRONG:
                console.print(f"{case}: {outcomes[case].why}", markup=False, highlight=False)
    return outcomes


def _outcome(future: ProcessFuture) -> Outcome:
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
