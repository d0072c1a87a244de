"""Outcomes kept in a file, so that a run of hours can go on where it stopped, and runs what differed again."""

from collections import Counter
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from dovetail.tools.fuzz.check import Outcome
from dovetail.tools.fuzz.compare import Difference
from dovetail.tools.fuzz.seeds import GENERATORS
from dovetail.tools.fuzz.workers import Job
from dovetail.tools.json_lines import JsonLines
from dovetail.tools.sources import sources


@dataclass
class Record:
    """A file with one JSON object a line, later ones of a program in place of earlier ones.

    Attributes:
        outcomes: the last one of each job that this generator's programs had with this PyTorch.
        earlier: of these, those that an earlier state of Dovetail's sources had.
        again: jobs that differed once.
        elsewhere: the last outcome of each with other PyTorches, by version.
    """

    path: Path | None
    outcomes: dict[Job, Outcome] = field(default_factory=dict)
    earlier: set[Job] = field(default_factory=set)
    again: set[Job] = field(default_factory=set)
    elsewhere: dict[str, dict[Job, Outcome]] = field(default_factory=dict)

    def __post_init__(self):
        for stated in JsonLines(self.path).read():
            job = Job(stated["seed"], stated["backend"], stated["iree"], stated.get("kind", "alias"))
            if stated["generator"] != GENERATORS[job.kind]:
                continue
            if stated["torch"] == version("torch"):
                self._note(job, _outcome(stated), stated["sources"])
            else:
                self.elsewhere.setdefault(stated["torch"], {})[job] = _outcome(stated)

    def settled(self, job: Job) -> Outcome | None:
        """The job's outcome, unless it is still to be had, or was a difference."""
        outcome = self.outcomes.get(job)
        return None if outcome is None or outcome.found else outcome

    def add(self, job: Job, outcome: Outcome) -> None:
        """Appends one outcome."""
        self._note(job, outcome, sources())
        stated = {
            "kind": job.kind,
            "generator": GENERATORS[job.kind],
            "torch": version("torch"),
            "sources": sources(),
            "seed": job.seed,
            "backend": job.backend,
            "iree": job.iree,
            "status": outcome.status,
            "found": [[each.kind, each.call, each.what, each.eager, each.compiled] for each in outcome.found],
            "form": outcome.form,
            "refused": outcome.refused,
            "graphs": outcome.graphs,
            "checks": [outcome.checks[False], outcome.checks[True]],
            "eager": list(map(str, outcome.eager)),
            "specialised": list(map(str, outcome.specialised)),
        }
        JsonLines(self.path).append(stated)

    def _note(self, job: Job, outcome: Outcome, source: str) -> None:
        self.outcomes[job] = outcome
        self.earlier.discard(job)
        if source != sources():
            self.earlier.add(job)
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
        Counter(stated.get("specialised", ())),
        form=stated.get("form", ""),
    )
