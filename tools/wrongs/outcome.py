"""What a backend made of a case, compared with eager."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dovetail.tools.wrongs.case import Facts

NO_CXX_COMPILER = "InvalidCxxCompiler"
"""The exception that inductor raises where it finds no C++ compiler."""


@dataclass(frozen=True)
class Observed:
    """What one process, or one order of processes, saw.

    Attributes:
        facts: by name.
        failure: why there are no facts: "raises …" or "crashes …"; else empty.
        eagerly: whether Dovetail ran a part of the case eagerly, and said so.
    """

    facts: Facts = field(default_factory=dict)
    failure: str = ""
    eagerly: bool = False


@dataclass(frozen=True)
class Outcome:
    """One cell of the table."""

    right: bool
    text: str


def merged(parts: list[Observed]) -> Observed:
    """What all orders of a case saw together; the first failure stands for all."""
    facts: Facts = {}
    for part in parts:
        facts |= part.facts
    failure = next((part.failure for part in parts if part.failure), "")
    return Observed(facts, failure, any(part.eagerly for part in parts))


def judged(expected: Observed, actual: Observed) -> Outcome:
    """The outcome of a backend that saw `actual` where eager saw `expected`."""
    differing = {name: fact for name, fact in actual.facts.items() if expected.facts[name] != fact}
    if differing:
        crash = f"; {actual.failure}" if actual.failure else ""
        return Outcome(False, f"silently wrong: {shown(differing)}{crash}")
    if actual.failure:
        return Outcome(False, actual.failure)
    return Outcome(True, "right, run eagerly with a warning" if actual.eagerly else "right")


def shown(facts: Mapping) -> str:
    """Facts as text: the value alone where there is one fact."""
    return "; ".join(f"{name} {value}" for name, value in facts.items())
