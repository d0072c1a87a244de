"""What a pass changed: two texts of a module side by side, where a new number of a value is no difference.

Lines are aligned by what they say without value names and attributes; of each pair, the names of the first are replaced
by those that its values have in the second, and what then still differs is marked.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from dovetail.explanation.picture_records import Line, Stage

CONTEXT = 2
_VALUE = re.compile(r"%[\w$.-]+")
_ASIDE = re.compile(r"%[\w$.#-]+|\{[^{}]*\}")
_TOKEN = re.compile(r"%[\w$.-]+|[\w.]+|\W")


@dataclass(frozen=True)
class DiffRow:
    """A line of one side or both, in parts, each with whether it is marked.

    `mark` is "same", "removed" or "added"; or "hidden", for `count` lines that both sides have.
    """

    mark: str
    parts: tuple[tuple[str, bool], ...] = ()
    line: Line | None = None
    count: int = 0


@dataclass(frozen=True)
class Change:
    """What the pass `name` did; `added` and `removed` count lines, changed ones on both sides."""

    name: str
    rows: tuple[DiffRow, ...]
    added: int
    removed: int


def changes(stages: Iterable[Stage]) -> Iterator[Change]:
    """One for each pass that ran, in order."""
    for before, after in pairwise(stages):
        rows = list(_rows(before.lines, after.lines))
        marks = [row.mark for row in rows]
        yield Change(after.name, tuple(_folded(rows)), marks.count("added"), marks.count("removed"))


def _rows(before: tuple[Line, ...], after: tuple[Line, ...]) -> Iterator[DiffRow]:
    if before == after:
        yield from (DiffRow("same", ((line.text, False),), line) for line in after)
        return
    renamed: dict[str, str] = {}
    gone, come = ([_ASIDE.sub("", line.text) for line in lines] for lines in (before, after))
    for tag, start, end, other, other_end in SequenceMatcher(None, gone, come).get_opcodes():
        if tag == "equal":
            for old, new in zip(before[start:end], after[other:other_end], strict=True):
                yield from _pair(old, new, renamed)
            continue
        if any("func.func" in line.text for line in (*before[start:end], *after[other:other_end])):
            renamed.clear()
        yield from (DiffRow("removed", ((line.text, False),), line) for line in before[start:end])
        yield from (DiffRow("added", ((line.text, False),), line) for line in after[other:other_end])


def _pair(old: Line, new: Line, renamed: dict[str, str]) -> Iterator[DiffRow]:
    """The rows of two lines that say the same but for value names and attributes; notes the names of their values."""
    if "func.func" in new.text:
        renamed.clear()
    elif new.text.lstrip().startswith("%"):
        renamed[_VALUE.findall(old.text)[0]] = _VALUE.findall(new.text)[0]
    gone, come = _TOKEN.findall(old.text), _TOKEN.findall(new.text)
    known = [_renamed(token, renamed) for token in gone]
    if known == come:
        yield DiffRow("same", ((new.text, False),), new)
        return
    opcodes = SequenceMatcher(None, known, come, autojunk=False).get_opcodes()
    yield DiffRow("removed", _parts(gone, [(tag, start, end) for tag, start, end, _, _ in opcodes]), old)
    yield DiffRow("added", _parts(come, [(tag, start, end) for tag, _, _, start, end in opcodes]), new)


def _renamed(token: str, renamed: dict[str, str]) -> str:
    """What the second text calls `token`, "" for a value that it does not have."""
    if not token.startswith("%") or token.startswith("%arg"):
        return token
    return renamed.get(token, "")


def _parts(tokens: list[str], spans: list[tuple[str, int, int]]) -> tuple[tuple[str, bool], ...]:
    return tuple(("".join(tokens[start:end]), tag != "equal") for tag, start, end in spans if start < end)


def _folded(rows: list[DiffRow]) -> Iterator[DiffRow]:
    """`rows` without the same ones that lie more than `CONTEXT` away from a difference."""
    near = {
        shown
        for index, row in enumerate(rows)
        if row.mark != "same"
        for shown in range(index - CONTEXT, index + CONTEXT + 1)
    }
    hidden = 0
    for index, row in enumerate(rows):
        if index not in near:
            hidden += 1
            continue
        if hidden:
            yield DiffRow("hidden", count=hidden)
        hidden = 0
        yield row
    if hidden:
        yield DiffRow("hidden", count=hidden)
