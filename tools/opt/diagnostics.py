"""`--verify-diagnostics`: the errors met must be those that comments in the file expect (`expectations.py`)."""

import re
from collections.abc import Iterator, Sequence

from torch_mlir import ir

from dovetail.errors import DovetailError
from dovetail.tools.opt.expectations import UNKNOWN, Diagnostic, expected

_IN_FILE = re.compile(r'"-":(?P<line>\d+):\d+')
_LOCATED = re.compile(r"(?P<location>loc\(.*?\)): (?P<message>.*)", re.DOTALL)
# A note that MLIR's verifier adds to all that it finds; `mlir-opt` too turns it off here.
_OPERATION = "see current operation: "


def differences(text: str, errors: Sequence[Exception]) -> list[str]:
    """One message, `:line: what`, for each diagnostic that is met and not expected, or expected and missing."""
    missing = list(expected(text))
    found = []
    for met in [each for error in errors for each in diagnostics(error)]:
        match = next((each for each in missing if _fits(each, met)), None)
        if match is None:
            found.append(f"{_location(met)}: unexpected {met.severity}: {met.message}")
        else:
            missing.remove(match)
    return [
        *found,
        *(f'{_location(each)}: expected {each.severity} "{each.message}" was not produced' for each in missing),
    ]


def diagnostics(error: Exception) -> Iterator[Diagnostic]:
    """What `error`, or the innermost of the errors on purpose that it wraps, says about the file."""
    while isinstance(error.__cause__, DovetailError | ir.MLIRError):
        error = error.__cause__
    if isinstance(error, ir.MLIRError):
        for diagnostic in error.error_diagnostics:
            yield from _flattened(diagnostic)
        return
    located = _LOCATED.match(str(error))
    if located is None:
        yield Diagnostic("error", UNKNOWN, str(error))
    else:
        yield Diagnostic("error", _line(located["location"]), located["message"])


def _flattened(diagnostic) -> Iterator[Diagnostic]:
    yield Diagnostic(diagnostic.severity.name.lower(), _line(str(diagnostic.location)), diagnostic.message)
    for note in diagnostic.notes:
        if not note.message.startswith(_OPERATION):
            yield from _flattened(note)


def _line(location: str) -> int:
    match = _IN_FILE.search(location)
    return int(match["line"]) if match else UNKNOWN


def _fits(expectation: Diagnostic, met: Diagnostic) -> bool:
    is_there = (expectation.severity, expectation.line) == (met.severity, met.line)
    return is_there and expectation.message in met.message


def _location(diagnostic: Diagnostic) -> str:
    return "" if diagnostic.line == UNKNOWN else f":{diagnostic.line}"
