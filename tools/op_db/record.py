"""Outcomes kept in a file, so that a run of hours can go on where it stopped, and runs what was wrong again.

Those of other sources of Dovetail, or of another PyTorch, say nothing of these.
"""

from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from dovetail.tools.json_lines import JsonLines
from dovetail.tools.op_db.cases import Case
from dovetail.tools.op_db.check import WRONG, Outcome
from dovetail.tools.sources import sources


@dataclass
class Record:
    """The last outcome of each sample, of those that ran with this PyTorch and these sources."""

    path: Path | None
    outcomes: dict[Case, Outcome] = field(default_factory=dict)

    def __post_init__(self):
        for stated in JsonLines(self.path).read():
            if (stated["torch"], stated["sources"]) == (version("torch"), sources()):
                case = Case(stated["op"], stated["dtype"], stated["number"], stated.get("device", "cpu"))
                self.outcomes[case] = Outcome(stated["kind"], stated["why"])

    def settled(self, case: Case) -> bool:
        """Whether the sample has an outcome that is not wrong."""
        return case in self.outcomes and self.outcomes[case].kind != WRONG

    def add(self, case: Case, outcome: Outcome) -> None:
        """Appends one outcome."""
        self.outcomes[case] = outcome
        made_with = {"torch": version("torch"), "sources": sources()}
        asked = {"op": case.op, "dtype": case.dtype, "number": case.number, "device": case.device}
        JsonLines(self.path).append(made_with | asked | {"kind": outcome.kind, "why": outcome.why})
