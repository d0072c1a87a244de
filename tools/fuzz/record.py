"""Outcomes kept in a file, so that a run of hours can go on where it stopped, and runs what differed again."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from dovetail.tools.fuzz.check import Outcome
from dovetail.tools.fuzz.compare import Difference
from dovetail.tools.fuzz.generate import GENERATOR
from dovetail.tools.fuzz.workers import Job


@dataclass
class Record:
    """A file with one JSON object a line, later ones of a program in place of earlier ones.

    Attributes:
        outcomes: the last one of each job that this generator's programs had.
        again: jobs that differed once.
    """

    path: Path | None
    outcomes: dict[Job, Outcome] = field(default_factory=dict)
    again: set[Job] = field(default_factory=set)

    def __post_init__(self):
        if self.path is None or not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").splitlines():
            stated = json.loads(line)
            if stated["generator"] == GENERATOR:
                self._note(Job(stated["seed"], stated["backend"], stated["iree"]), _outcome(stated))

    def settled(self, job: Job) -> Outcome | None:
        """The job's outcome, unless it is still to be had, or was a difference."""
        outcome = self.outcomes.get(job)
        return None if outcome is None or outcome.found else outcome

    def add(self, job: Job, outcome: Outcome) -> None:
        """Appends one outcome."""
        self._note(job, outcome)
        if self.path is None:
            return
        stated = {
            "generator": GENERATOR,
            "seed": job.seed,
            "backend": job.backend,
            "iree": job.iree,
            "status": outcome.status,
            "found": [[each.kind, each.call, each.what, each.eager, each.compiled] for each in outcome.found],
            "refused": outcome.refused,
            "graphs": outcome.graphs,
            "checks": [outcome.checks[False], outcome.checks[True]],
            "eager": list(map(str, outcome.eager)),
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(stated) + "\n")

    def _note(self, job: Job, outcome: Outcome) -> None:
        self.outcomes[job] = outcome
        if outcome.found:
            self.again.add(job)


def _outcome(stated: dict) -> Outcome:
    return Outcome(
        stated["status"],
        tuple(Difference(*each) for each in stated["found"]),
        stated["refused"],
        stated["graphs"],
        Counter({value: count for value, count in zip((False, True), stated["checks"], strict=True) if count}),
        Counter(stated["eager"]),
    )
