"""Outcomes kept in a file, so that a run can go on where it stopped; what was a finding runs again."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from dovetail.tools.fuzz_texts.mutant import Mutant
from dovetail.tools.fuzz_texts.trial import Outcome


@dataclass
class Record:
    """A file with one JSON object a line; an outcome is that of an input and a command, whatever its seed is."""

    path: Path | None
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def __post_init__(self):
        if self.path is None or not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").splitlines():
            stated = json.loads(line)
            self.outcomes[stated["mutant"]] = Outcome(stated["kind"], stated["message"])

    def settled(self, mutant: Mutant) -> Outcome | None:
        """The mutant's outcome, unless it is still to be had, or was a finding."""
        outcome = self.outcomes.get(_digest(mutant))
        return None if outcome is None or outcome.is_finding else outcome

    def add(self, mutant: Mutant, outcome: Outcome) -> None:
        """Appends one outcome."""
        self.outcomes[_digest(mutant)] = outcome
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            stated = {"mutant": _digest(mutant), "kind": outcome.kind, "message": outcome.message}
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(stated)}\n")


def _digest(mutant: Mutant) -> str:
    return hashlib.sha256("\0".join(mutant.command).encode() + b"\0\0" + mutant.contents).hexdigest()
