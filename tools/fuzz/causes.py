"""Differences by cause: seeds whose minimal programs are of the same lines are one."""

import logging
import multiprocessing
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from dovetail.tools.fuzz.check import Outcome, check
from dovetail.tools.fuzz.minimise import minimise, shows
from dovetail.tools.fuzz.program import Program, code_lines
from dovetail.tools.fuzz.render import script
from dovetail.tools.fuzz.seeds import program
from dovetail.tools.fuzz.workers import Job


@dataclass(frozen=True)
class Minimal:
    """A seed's minimal program; its `cause` is what differs, in which lines."""

    job: Job
    cause: str
    script: str


def causes(different: Iterable[tuple[Job, Outcome]], limit: int, jobs: int) -> Iterator[str]:
    """One text for each cause: its seeds, and the shortest of their minimal programs.

    Of each family of differences, `limit` seeds are minimised, `jobs` at a time; the text of the others names them.
    """
    families: dict[str, list[tuple[Job, str, str]]] = defaultdict(list)
    for job, outcome in sorted(different, key=lambda each: each[0].seed):
        family = outcome.found[0].family
        families[f"{family}, {outcome.form or 'plain'}"].append((job, family, outcome.form))
    tasks = [task for name, each in families.items() if "crashed" not in name for task in each[:limit]]
    found: dict[str, list[Minimal]] = defaultdict(list)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        for minimal in pool.map(_minimal, tasks):
            found[minimal.cause].append(minimal)
    for cause, each in found.items():
        seeds = ", ".join(str(minimal.job.seed) for minimal in each)
        yield f"# {cause}\n# {each[0].job.kind} seeds {seeds}\n{min((one.script for one in each), key=len)}"
    for name, rest in families.items():
        others = [str(job.seed) for job, *_ in rest if "crashed" in name] or [str(job.seed) for job, *_ in rest[limit:]]
        if others:
            yield f"# {name}: not minimised: {rest[0][0].kind} seeds {', '.join(others)}"


def _minimal(task: tuple[Job, str, str]) -> Minimal:
    job, family, form = task
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    smallest = minimise(program(job.kind, job.seed, form), shows(family, job.backend, job.iree))
    found = check(smallest, job.backend, job.iree).found
    text = "\n".join([*(f"# {each}" for each in found), script(smallest, job.backend)])
    return Minimal(job, f"{family}: {_lines(smallest)}", text)


def _lines(smallest: Program) -> str:
    """The body's templates, and its form."""
    lines = "; ".join(dict.fromkeys(line.template for line in code_lines(smallest.body)))
    return f"{lines}, in {smallest.form}" if smallest.form else lines
