"""The recorded figures as the generated section of docs/op-sweep.md."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from dovetail.passes.placement.reasons import NO_ELEMENTS
from dovetail.tools.markdown import cell, table
from dovetail.tools.sweep.cpu import Cpu
from dovetail.tools.sweep.judge import ACCEPTED
from dovetail.tools.sweep.record import recorded

SECTION = "sweep:figures"
"""The section of docs/op-sweep.md that holds them."""

_INTRODUCTIONS = {
    "met": ("What a graph hands to IREE", "Ops through `frontend/decompose/table.py`, and those that it leaves."),
    "replaced": (
        "What replacements are for",
        "Ops by themselves that `frontend/decompose/replacements.py` says in others: no graph hands them to IREE. What "
        "is wrong here is why.",
    ),
}


def markdown() -> str:
    """The section: the CPUs, then for each part what is wrong and what is left to ATen, and where."""
    found = recorded()
    lines = _cpus(found)
    for part, (title, text) in _INTRODUCTIONS.items():
        parts = {cpu.title: figures[part] for cpu, figures in found}
        lines += [f"## {title}", "", text, ""]
        lines += _rows(("wrong", "how"), parts, _wrong)
        lines += _rows(("left to ATen", "because", "element types"), parts, _left)
    lines += ["## Differences that we accept", ""]
    lines += [f"- `{name}`: {reason}" for name, reason in sorted(ACCEPTED.items())]
    return "\n".join(lines) + "\n"


def _cpus(found: list[tuple[Cpu, dict]]) -> list[str]:
    head = ("CPU", "day", "vector", "IREE, torch, Python", "what a graph hands to IREE", "replaced ops by themselves")
    rows = (
        [
            cpu.title,
            figures["day"],
            f"{cpu.vector_bytes} bytes",
            ", ".join(figures["versions"].values()),
            *(_counts(figures[part]) for part in _INTRODUCTIONS),
        ]
        for cpu, figures in found
    )
    return [*table(head, rows), ""]


def _counts(part: dict) -> str:
    left = part["cases"] - part["right"] - len(part["wrong"])
    return f"{part['right']} right, {left} left to ATen, **{len(part['wrong'])} wrong**"


def _rows(head: tuple[str, ...], parts: dict[str, dict], rows: Callable[[dict], Iterable[str]]) -> list[str]:
    """The rows of all CPUs, each once, with those that it holds for."""
    holds: dict[str, list[str]] = defaultdict(list)
    for title, part in parts.items():
        for row in rows(part):
            holds[row].append(title)
    if not holds:
        return [f"Nothing is {head[0]}.", ""]
    found = ((row, "all" if len(on) == len(parts) else ", ".join(on)) for row, on in sorted(holds.items()))
    return [*table((*head, "on"), found), ""]


def _wrong(part: dict) -> Iterable[str]:
    return (f"`{case}` | {cell(how)}" for case, how in part["wrong"].items())


def _left(part: dict) -> Iterable[str]:
    for op, left, types in part["left"]:
        cause, _, reason = left.partition(": ")
        if reason == NO_ELEMENTS.text:  # so it is with every op
            continue
        name = cause.removeprefix("aten.").removesuffix(".default")
        through = "" if name == op else f" (through `{name}`)"
        yield f"`{op}`{through} | {cell(reason)} | {'all' if len(types) == 10 else ' '.join(types)}"
