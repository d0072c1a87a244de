"""Comments that expect an error, in the syntax of `mlir-opt --verify-diagnostics`.

`// expected-error {{text}}` expects an error on its own line whose message contains the text; `@+1`, `@-1`, `@above`,
`@below` before the braces mean another line, `@unknown` an error that names no line of the file. In place of `error`
stand `warning`, `remark` and `note` too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

UNKNOWN = 0
"""The line of what names none: MLIR itself says so of a module that the text only implies."""

MENTION = re.compile(r"//\s*expected-\w+")
_EXPECTED = re.compile(
    r"//.*?expected-(?P<severity>error|warning|remark|note)\s*"
    r"(@(?P<place>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*?)\}\}"
)
_STEPS = {None: 0, "above": -1, "below": 1}


@dataclass(frozen=True)
class Diagnostic:
    """Something said about a line of the file, or expected to be."""

    severity: str
    line: int
    message: str


def expected(text: str) -> Iterator[Diagnostic]:
    """Yields what the comments of `text` expect, in order; lines count from 1."""
    for number, line in enumerate(text.splitlines(), 1):
        match = _EXPECTED.search(line)
        if match is not None:
            yield Diagnostic(match["severity"], _line(number, match["place"]), match["text"])


def _line(number: int, line: str | None) -> int:
    if line == "unknown":
        return UNKNOWN
    return number + (_STEPS[line] if line in _STEPS else int(line or 0))
