"""The table on the terminal, as stored, and in the documents."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from rich.table import Table
from rich.text import Text

from dovetail.tools.wrongs.case import Case
from dovetail.tools.wrongs.cases import CASES, TELLING
from dovetail.tools.wrongs.outcome import Outcome

MEASURED = Path(__file__).parent / "measured.json"
"""What `make wrongs` measured last: `make docs` writes the documents from it and runs no other compiler."""

SECTION = "wrongs:table"
"""The section of docs/wrongs.md that holds the table."""

TELLING_SECTION = "wrongs:telling"
"""The section of the README that holds the most telling rows."""

COLUMNS = {"eager": "eager", "inductor": "inductor", "dovetail": "Dovetail"}
UPSTREAM = "https://github.com/pytorch/pytorch/issues"

Rows = Mapping[str, Mapping[str, Outcome]]
"""The outcome of each backend, by case and backend."""


def table(cases: list[Case], rows: Rows) -> Table:
    """The table as the terminal shows it."""
    shown = Table("case", *COLUMNS.values(), show_lines=True)
    for case in cases:
        outcomes = [rows[case.name][backend] for backend in COLUMNS]
        shown.add_row(Text(case.title), *(Text(outcome.text, "" if outcome.right else "red") for outcome in outcomes))
    return shown


def line(case: Case, row: Mapping[str, Outcome]) -> str:
    """A row as it is printed when its case ends."""
    if not row["eager"].right:
        return f"{case.name}: eager {row['eager'].text}, {row['dovetail'].text}"
    verdicts = (
        f"{name} {'right' if row[backend].right else f'WRONG ({row[backend].text})'}"
        for backend, name in list(COLUMNS.items())[1:]
    )
    return f"{case.name}: {', '.join(verdicts)}"


def store(rows: Rows, path: Path = MEASURED) -> None:
    """Writes `rows` and the version of torch that they were measured with; keeps the rows of others at that version."""
    stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept = stored["rows"] if stored.get("torch") == torch.__version__ else {}
    given = {name: {backend: asdict(outcome) for backend, outcome in row.items()} for name, row in rows.items()}
    measured = {"torch": torch.__version__, "rows": kept | given}
    path.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


def sections() -> dict[str, str]:
    """What the documents show of the outcomes stored last, by section name."""
    return {SECTION: markdown(CASES), TELLING_SECTION: markdown(telling_cases())}


def telling_cases() -> list[Case]:
    """The cases that the README shows."""
    return [case for case in CASES if case.name in TELLING]


def markdown(cases: Sequence[Case], path: Path = MEASURED) -> str:
    """The table of `cases` as they are, with the outcomes as they were stored at `path`."""
    measured = json.loads(path.read_text(encoding="utf-8"))
    lines = [f"| case | {' | '.join(COLUMNS.values())} |".replace("inductor", f"inductor, torch {measured['torch']}")]
    lines.append("|---" * (len(COLUMNS) + 1) + "|")
    for case in cases:
        row = measured["rows"].get(case.name, {})
        cells = [_cell(row.get(backend, {"right": False, "text": "not measured"})) for backend in COLUMNS]
        upstream = f" ([#{case.upstream}]({UPSTREAM}/{case.upstream}))" if case.upstream else ""
        lines.append(f"| {case.title}{upstream} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(outcome: Mapping) -> str:
    text = outcome["text"].replace("|", "\\|")
    return text if outcome["right"] else f"**{text}**"
