"""Outcomes kept in a file, so that a run of hours can go on where it stopped, and runs what was wrong again."""

from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from dovetail.tools.json_lines import JsonLines
from dovetail.tools.op_db.cases import Case
from dovetail.tools.op_db.check import WRONG, Outcome


@dataclass
class Record:
    """The last outcome of each sample, of those that ran with this PyTorch."""

    path: Path | None
    outcomes: dict[Case, Outcome] = field(default_factory=dict)

    def __post_init__(self):
        for stated in JsonLines(self.path).read():
            if stated["torch"] == version("torch"):
                case = Case(stated["op"], stated["dtype"], stated["number"])
                self.outcomes[case] = Outcome(stated["kind"], stated["why"])

    def settled(self, case: Case) -> bool:
        """Whether the sample has an outcome that is not wrong."""
        return case in self.outcomes and self.outcomes[case].kind != WRONG

    def add(self, case: Case, outcome: Outcome) -> None:
        """Appends one outcome."""
        self.outcomes[case] = outcome
        stated = {"torch": version("torch"), "op": case.op, "dtype": case.dtype, "number": case.number}
        JsonLines(self.path).append({**stated, "kind": outcome.kind, "why": outcome.why})
