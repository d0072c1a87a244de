"""Outcomes kept in a file, so that a run can go on where it stopped; what was a finding runs again."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from dovetail.tools.fuzz_texts.mutant import Mutant
from dovetail.tools.fuzz_texts.trial import Outcome
from dovetail.tools.json_lines import JsonLines


@dataclass
class Record:
    """A file with one JSON object a line; an outcome is that of an input and a command, whatever its seed is."""

    path: Path | None
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def __post_init__(self):
        for stated in JsonLines(self.path).read():
            self.outcomes[stated["mutant"]] = Outcome(stated["kind"], stated["message"])

    def settled(self, mutant: Mutant) -> Outcome | None:
        """The mutant's outcome, unless it is still to be had, or was a finding."""
        outcome = self.outcomes.get(_digest(mutant))
        return None if outcome is None or outcome.is_finding else outcome

    def add(self, mutant: Mutant, outcome: Outcome) -> None:
        """Appends one outcome."""
        self.outcomes[_digest(mutant)] = outcome
        JsonLines(self.path).append({"mutant": _digest(mutant), "kind": outcome.kind, "message": outcome.message})


def _digest(mutant: Mutant) -> str:
    return hashlib.sha256("\0".join(mutant.command).encode() + b"\0\0" + mutant.contents).hexdigest()
