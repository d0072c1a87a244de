"""`python -m dovetail.tools.sweep [OP ...]`: runs the sweep; of all ops it writes docs/op-sweep.md (`make sweep`)."""

import argparse
import sys
import time
import warnings
from collections import defaultdict
from pathlib import Path

from dovetail.frontend.decompose.replacements import REPLACEMENTS
from dovetail.frontend.decompose.table import decompositions
from dovetail.tools.sweep.cases import Case, all_cases
from dovetail.tools.sweep.check import Outcome, check, runs_in_eager
from dovetail.tools.sweep.report import report


def main() -> int:
    """Returns 1 if anything that a model's graph can hand to IREE is wrong or does not compile, else 0."""
    parser = argparse.ArgumentParser(prog="python -m dovetail.tools.sweep", description=__doc__)
    parser.add_argument("ops", nargs="*", metavar="OP", help="ATen names without overload, e.g. maximum; default all")
    parser.add_argument("-o", "--output", type=Path, help="where to write the report")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of ATen, about degrees of freedom
    started = time.perf_counter()
    outcomes: dict[bool, list[Outcome]] = {}
    for decompose in (False, True):
        outcomes[decompose] = []
        for name, cases in _by_op(options.ops, decompose).items():
            found = check(cases, decompose)
            outcomes[decompose] += found
            wrong = [outcome for outcome in found if outcome.wrong]
            print(
                f"{'decomposed' if decompose else 'as it is'}: {name}: {len(wrong)} of {len(found)} wrong", flush=True
            )
            for outcome in wrong:
                print(f"  {outcome.case}: {outcome.failed or outcome.differs}", flush=True)
    text = report(outcomes, time.perf_counter() - started)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    by_itself = [outcome for outcome in outcomes[False] if outcome.case.overload not in REPLACEMENTS]
    return int(any(outcome.wrong for outcome in by_itself + outcomes[True]))


def _by_op(names: list[str], decompose: bool) -> dict[str, list[Case]]:
    """The cases of ops that tracing decomposes, or of those that it leaves or may leave."""
    table = decompositions()
    cases = defaultdict(list)
    for case in all_cases(names):
        wanted = case.overload in table if decompose else case.overload not in table or case.overload in REPLACEMENTS
        if wanted and runs_in_eager(case):
            cases[case.overload._opname].append(case)
    return cases


if __name__ == "__main__":
    sys.exit(main())
