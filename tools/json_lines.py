"""A file of one JSON object a line, which a run appends to, so that a later run can go on where it stopped."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class JsonLines:
    """The file, or None to keep nothing."""

    path: Path | None

    def read(self) -> list[dict]:
        """The objects, oldest first; half a line that a killed run left is cut off the file."""
        if self.path is None or not self.path.exists():
            return []
        text = self.path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        return [json.loads(line) for line in whole.splitlines()]

    def append(self, stated: dict) -> None:
        """Appends one object, at once."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(stated)}\n")
