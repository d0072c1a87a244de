"""What runs found, as docs/fuzzing.md, whose prose is `page.md`."""

import platform
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from dovetail.tools.fuzz.check import Outcome
from dovetail.tools.fuzz.compare import KINDS
from dovetail.tools.fuzz.computations import (
    by_hand,
    cancellation,
    chains,
    contractions,
    decisions,
    functions,
    indexing,
    layouts,
    mixed_types,
    normalisation,
    pointwise,
    reductions,
)
from dovetail.tools.fuzz.derivatives import uses
from dovetail.tools.fuzz.errors.lines import CAUSES
from dovetail.tools.fuzz.rounding import ROUNDING
from dovetail.tools.fuzz.seeds import GENERATORS
from dovetail.tools.fuzz.unseen_writes import UNSEEN_WRITE
from dovetail.tools.markdown import cell, row, table

TABLES = (
    (pointwise, len(pointwise.POINTWISE)),
    (reductions, len(reductions.REDUCTIONS)),
    (normalisation, len(normalisation.NORMALISATION) + 1),
    (layouts, len(layouts.LAYOUTS)),
    (decisions, len(decisions.DECISIONS) + len(decisions.CASTS)),
    (indexing, len(indexing.INDEXING)),
    (contractions, len(contractions.CONTRACTIONS) + len(contractions.IMAGES)),
    (functions, len(functions.FUNCTIONS)),
    (chains, len(chains.CHAINS)),
    (by_hand, len(by_hand.BY_HAND)),
    (cancellation, len(cancellation.CANCELLATION)),
    (mixed_types, len(mixed_types.MIXED_TYPES)),
)
_SEEDS = 20  # named of each kind of difference


@dataclass
class Tally:
    """The outcomes of one backend's run of one kind of programs.

    Attributes:
        seeds: first seed, and the one after the last.
        through_iree: how many of the programs had their regions compiled by IREE.
        statuses: programs by `Outcome.status`.
        kinds: seeds by kind of difference; a program with several counts in each.
        refused, eager, specialised: programs by the reason why Dovetail refused a call, left something to eager, or
            compiled a graph for the sizes of one call.
        partly_eager: programs of which Dovetail left something to eager.
        again: programs that differed, now or in an earlier run of the same record.
        earlier: programs whose outcomes in it are of an earlier state of the sources.
        torch: the version of PyTorch, where it is another one than this page's.
    """

    kind: str
    backend: str
    seeds: tuple[int, int]
    through_iree: int = 0
    statuses: Counter = field(default_factory=Counter)
    kinds: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    refused: Counter = field(default_factory=Counter)
    eager: Counter = field(default_factory=Counter)
    specialised: Counter = field(default_factory=Counter)
    partly_eager: int = 0
    graphs: int = 0
    checks: Counter[bool] = field(default_factory=Counter)
    again: int = 0
    earlier: int = 0
    torch: str = ""

    @property
    def title(self) -> str:
        """What its column is called."""
        return f"{self.kind}, {self.backend}" + (f", torch {self.torch}" if self.torch else "")

    def add(self, seed: int, outcome: Outcome, iree: bool) -> None:
        """Counts one program."""
        self.statuses[outcome.status] += 1
        self.through_iree += iree
        self.graphs += outcome.graphs
        self.checks.update(outcome.checks)
        self.partly_eager += bool(outcome.eager)
        self.eager.update({_general(reason) for reason in outcome.eager})
        self.specialised.update({_general(reason) for reason in outcome.specialised})
        if outcome.refused:
            self.refused[_general(outcome.refused)] += 1
        for kind in {each.kind for each in outcome.found}:
            self.kinds[kind].append(seed)


_ROWS: dict[str, Callable[[Tally], object]] = {
    "seeds": lambda tally: f"{tally.seeds[0]} to {tally.seeds[1] - 1}",
    "programs": lambda tally: sum(tally.statuses.values()),
    "without a difference": lambda tally: tally.statuses["same"],
    "eager raised in the first call, compiled code too": lambda tally: tally.statuses["eager raised"],
    "different without a backend too: Dynamo's own": lambda tally: tally.statuses["Dynamo"],
    "eager's gradient is of values it never had: `.data` was written": lambda tally: tally.statuses[UNSEEN_WRITE],
    "no further from double precision than eager, which rounds more": lambda tally: tally.statuses[ROUNDING],
    "refused": lambda tally: tally.statuses["refused"],
    "different": lambda tally: tally.statuses["different"],
    "different once, run again after a mend": lambda tally: tally.again - tally.statuses["different"],
    "not run again since the sources changed": lambda tally: tally.earlier,
}
# Known of Dovetail only.
_OWN_ROWS: dict[str, Callable[[Tally], object]] = {
    "compiled graphs": lambda tally: tally.graphs,
    "modules run before and after each pass": lambda tally: tally.checks[True] or "–",
    "modules that random inputs can't run, not checked": lambda tally: tally.checks[False] if tally.checks else "–",
    "programs whose regions IREE compiled, others through ATen": lambda tally: tally.through_iree,
    "programs partly left to eager, with a warning": lambda tally: tally.partly_eager,
}


def report(tallies: Sequence[Tally]) -> str:
    """The page: a column for each run, then seeds and reasons."""
    head = (
        Path(__file__)
        .with_name("page.md")
        .read_text(encoding="utf-8")
        .format(
            tables=_tables(),
            ways="\n".join(f"| {name} | {text} |" for name, text in uses.documented()),
            causes="\n".join(f"| {cause} | {len(lines)} |" for cause, lines in CAUSES.items()),
            torch=version("torch"),
            machine=platform.machine(),
            generators=", ".join(f"{kind} {number}" for kind, number in GENERATORS.items()),
        )
    )
    rows = [[name, *map(value, tallies)] for name, value in _ROWS.items()]
    rows += [
        [f"different: {kind}", *(len(each.kinds.get(kind, ())) for each in tallies)]
        for kind in KINDS
        if any(kind in each.kinds for each in tallies)
    ]
    for name, value in _OWN_ROWS.items():
        rows.append([name, *(value(each) if each.backend in ("dovetail", "run-check") else "–" for each in tallies)])
    lines = [head, *table(["", *(each.title for each in tallies)], rows), ""]
    for tally in tallies:
        lines += _seeds(tally) + _reasons(tally)
    return "\n".join(lines)


def summary(tally: Tally) -> str:
    """A run in one line: programs by what became of them, and the seeds that differ."""
    counts = ", ".join(f"{count} {status}" for status, count in tally.statuses.most_common())
    kinds = "; ".join(
        f"{kind} {', '.join(map(str, sorted(tally.kinds[kind])))}" for kind in KINDS if kind in tally.kinds
    )
    said = f"{tally.title}: {sum(tally.statuses.values())} programs: {counts or 'none ran in time'}"
    return f"{said} (by seed: {kinds})" if kinds else said


def _tables() -> str:
    """What each table's lines do, as its file says, and how many there are."""
    return "\n".join(
        row([module.__name__.rpartition(".")[2], " ".join((module.__doc__ or "").split()), count])
        for module, count in TABLES
    )


def _seeds(tally: Tally) -> list[str]:
    if not tally.kinds:
        return []
    lines = [f"## Seeds that differ: {tally.title}", ""]
    for kind in KINDS:
        found = sorted(tally.kinds.get(kind, ()))
        if found:
            more = f", and {len(found) - _SEEDS} more" if len(found) > _SEEDS else ""
            lines.append(f"- {kind}: {', '.join(map(str, found[:_SEEDS]))}{more}")
    return [*lines, ""]


def _reasons(tally: Tally) -> list[str]:
    lines = []
    for title, reasons in (
        ("Refused", tally.refused),
        ("Left to eager", tally.eager),
        ("Compiled for the sizes of one call", tally.specialised),
    ):
        if reasons:
            rows = ([number, f"`` {cell(reason)} ``"] for reason, number in reasons.most_common())
            lines += [f"## {title}: {tally.title}", "", *table(("programs", "because"), rows), ""]
    return lines


def _general(reason: str) -> str:
    """Without the names, numbers and sizes of one program, so that equal reasons are counted together."""
    line = reason.strip().partition("\n")[0].partition(": one of the variables needed")[0]
    line = re.sub(r"\bnode \w+", "node ...", line)
    line = re.sub(r"\bresult \d+", "result ...", line)
    line = re.sub(r"\[[\w, ]*\]|placeholders=\{.*", "...", line)
    line = re.sub(r"(loc\(\")?<fuzz \d+>\"?(:\d+)+\)?", "...", line)
    return " ".join("..." if any(mark in word for mark in ("L[", "G[")) else word for word in line.split(" "))
