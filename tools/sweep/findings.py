"""Runs the sweep in several processes, op by op."""

import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context

import torch

from dovetail.errors import DovetailError
from dovetail.frontend.decompose.replacements import REPLACEMENTS
from dovetail.frontend.decompose.table import decompositions
from dovetail.tools.sweep.cases import all_cases, all_names
from dovetail.tools.sweep.check import check, runs_in_eager
from dovetail.tools.sweep.cpu import Cpu, target_for_cpu
from dovetail.tools.sweep.judge import Outcome
from dovetail.tools.sweep.large import LARGE, LargeCase, check_large, large_cases

_LARGE = "large "


@dataclass(frozen=True)
class Finding:
    """What became of one case, in words; compiled and right where neither is said.

    Attributes:
        op: the overload, e.g. "sum.dim_IntList".
        case: the call, with its element type and shape.
        dtype: the element type, e.g. "float32".
        is_replaced: the op was taken as it is, which no graph hands to IREE, since a replacement comes first.
        left: why ATen computes it, "" if it is compiled.
        wrong: how the compiled code fails, "" if it is right.
    """

    op: str
    case: str
    dtype: str
    is_replaced: bool
    left: str
    wrong: str


def findings(names: list[str], cpu: Cpu, jobs: int) -> Iterator[tuple[str, list[Finding]]]:
    """The findings of each op of `names`, all if there are none, as processes give them.

    ATen runs the kernels that it would choose on `cpu`: what another one's vectors compute is no measure for its code.

    Raises:
        DovetailError: if compiled code ended a process, naming the ops that it may have been.
    """
    os.environ |= cpu.kernels  # which processes take over as they start
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_start) as pool:
        pending = {pool.submit(_found, name, cpu.asked): name for name in names or [*_large_names(), *all_names()]}
        try:
            for future in as_completed(pending):
                found = future.result()
                yield pending.pop(future), found
        except BrokenProcessPool as error:
            running = list(pending.values())[:jobs]  # they are begun in this order
            raise DovetailError(f"compiled code ended a process: that of one of {', '.join(running)}") from error


def _start() -> None:
    warnings.simplefilter("ignore")  # of ATen, about degrees of freedom
    torch.set_num_threads(1)


def _large_names() -> list[str]:
    """Of reductions of many numbers, beside the ops' names: "large sum" and so on."""
    return [f"{_LARGE}{name}" for name in LARGE]


def _found(name: str, cpu: str) -> list[Finding]:
    if name.startswith(_LARGE):
        return [_large_finding(case, cpu) for case in large_cases(name.removeprefix(_LARGE))]
    table, cases = decompositions(), [case for case in all_cases([name]) if runs_in_eager(case)]
    as_they_are = [case for case in cases if case.overload not in table or case.overload in REPLACEMENTS]
    decomposed = [case for case in cases if case.overload in table]
    return [
        _finding(outcome, decompose)
        for decompose, chosen in ((False, as_they_are), (True, decomposed))
        for outcome in (check(chosen, decompose, target_for_cpu(cpu)) if chosen else [])
    ]


def _finding(outcome: Outcome, decompose: bool) -> Finding:
    case = outcome.case
    return Finding(
        op=case.name.removeprefix("aten.").removesuffix(".default"),
        case=str(case),
        dtype=str(case.dtype).removeprefix("torch."),
        is_replaced=not decompose and case.overload in REPLACEMENTS,
        left=outcome.refused,
        wrong=_said(outcome) if outcome.wrong else "",
    )


def _said(outcome: Outcome) -> str:
    return outcome.failed or "; ".join(f"{values}: {how}" for values, how in outcome.differs.items())


def _large_finding(case: LargeCase, cpu: str) -> Finding:
    left, wrong = check_large(case, target_for_cpu(cpu))
    return Finding(f"{_LARGE}{case.name}", str(case), str(case.dtype).removeprefix("torch."), False, left, wrong)
