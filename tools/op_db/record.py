"""Outcomes kept in a file, so that a run of hours can go on where it stopped, and runs what was wrong again.

Those of other sources of Dovetail, or of another PyTorch, say nothing of these.
"""

from dataclasses import dataclass, field, fields
from importlib.metadata import version
from pathlib import Path

from dovetail.tools.json_lines import JsonLines
from dovetail.tools.op_db.cases import Case
from dovetail.tools.op_db.check import WRONG, Outcome
from dovetail.tools.sources import sources

_ASKED = tuple(each.name for each in fields(Case))


@dataclass
class Record:
    """The last outcome of each sample, of those that ran with this PyTorch and these sources."""

    path: Path | None
    outcomes: dict[Case, Outcome] = field(default_factory=dict)

    def __post_init__(self):
        for stated in JsonLines(self.path).read():
            if (stated["torch"], stated["sources"]) == (version("torch"), sources()):
                asked = (stated[name] for name in _ASKED)
                self.outcomes[Case(*asked)] = Outcome(stated["kind"], stated["why"])

    def settled(self, case: Case) -> bool:
        """Whether the sample has an outcome that is not wrong."""
        return case in self.outcomes and self.outcomes[case].kind != WRONG

    def add(self, case: Case, outcome: Outcome) -> None:
        """Appends one outcome."""
        self.outcomes[case] = outcome
        made_with = {"torch": version("torch"), "sources": sources()}
        asked = {name: getattr(case, name) for name in _ASKED}
        JsonLines(self.path).append(made_with | asked | {"kind": outcome.kind, "why": outcome.why})
