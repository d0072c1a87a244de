"""Launches of one kernel on several sets of bindings, as one: its parameter holds all sets, workgroup y takes set y.

A launch takes as long, on the host and on the GPU, as the update of a small parameter.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import ceil
from typing import Any

MOST_BYTES = 4096
"""Of a kernel's parameters, by every driver."""

_KERNEL = re.compile(r"^\.visible \.entry (?P<name>\w+)\(\n(?P<parameters>[^)]*)\n\)\n(?P<body>.*?^\}$)", re.M | re.S)
_ADDRESS, _WORD = re.compile(r"\s*\.param \.[ub]64 \.ptr .*\b(\w+)"), re.compile(r"\s*\.param \.[ub]32 (\w+)")
_TAKEN = re.compile(r"%n?ctaid\.[yz]")

Step = dict[str, Any]


def launch_together(plans: Iterable[dict[str, Any]], code: bytes) -> bytes:
    """Joins launches of `plans` where that can be; `code`, the PTX of all of them, with the kernels for that.

    Those are joined that follow one another, differ in nothing but their bindings, and bind no memory in common: nobody
    can tell whether they run at the same time. Barriers between such order nothing.
    """
    listed, text = list(plans), code.decode()
    for kernel in list(_KERNEL.finditer(text)):
        name = kernel["name"]
        groups = [list(_groups(plan["steps"], name)) for plan in listed]
        launches = [step for plan in listed for step in plan["steps"] if step.get("entry") == name]
        if max(map(len, chain(*groups)), default=0) < 2 or not all(map(_has_one_row, launches)):
            continue
        bindings, words = len(launches[0]["bindings"]), len(launches[0]["constants"])
        most = (MOST_BYTES - 4 * words) // (8 * bindings)
        parts = [[part for group in each for part in _parts(group, most)] for each in groups]
        sets = max(map(len, chain(*parts)))
        edited = _taking_sets(kernel, bindings, words, sets)
        if edited is None:
            continue
        text = text.replace(kernel[0], edited)
        for plan, each in zip(listed, parts, strict=True):
            plan["steps"] = list(_joined(plan["steps"], each, sets))
    return text.encode()


def _groups(steps: Iterable[Step], name: str) -> Iterator[list[Step]]:
    """The launches of kernel `name`, those together that can be joined."""
    group: list[Step] = []
    bound: set[int] = set()
    for step in steps:
        if step["op"] == "barrier":
            continue
        is_launch = step.get("entry") == name
        buffers = {buffer for buffer, *_ in step.get("bindings", ())}
        is_alike = group and all(step.get(key) == group[0][key] for key in ("workgroups", "constants"))
        if group and not (is_launch and is_alike and bound.isdisjoint(buffers)):
            yield group
            group, bound = [], set()
        if is_launch:
            group, bound = [*group, step], bound | buffers
    if group:
        yield group


def _has_one_row(step: Step) -> bool:
    """Whether its workgroups are counted by x alone, so that y can be the set's number, and no number is open."""
    known = chain(step["workgroups"], *step["bindings"])
    return step["workgroups"][1:] == [1, 1] and all(isinstance(number, int) for number in known)


def _parts(group: Sequence[Step], most: int) -> list[Sequence[Step]]:
    """`group` in parts of about one size, of `most` launches or fewer."""
    size = ceil(len(group) / ceil(len(group) / most))
    return [group[start : start + size] for start in range(0, len(group), size)]


def _joined(steps: Iterable[Step], parts: Iterable[Sequence[Step]], sets: int) -> Iterator[Step]:
    part_of = {id(step): part for part in parts for step in part}
    for step in steps:
        part = part_of.get(id(step))
        if part is None:
            yield step
        elif step is part[0]:
            bindings = [binding for each in part for binding in each["bindings"]]
            yield step | {"bindings": bindings, "workgroups": [step["workgroups"][0], len(part), 1], "sets": sets}


def _taking_sets(kernel: re.Match[str], bindings: int, words: int, sets: int) -> str | None:
    """The text of `kernel` that takes so many sets of bindings; None if it is of another form than expected."""
    name, body, listed = kernel["name"], kernel["body"], kernel["parameters"].split(",\n")
    forms = [_ADDRESS] * bindings + [_WORD] * words
    found = [form.fullmatch(text) for form, text in zip(forms, listed, strict=False)]
    if len(listed) != len(forms) or None in found or _TAKEN.search(body) or not body.partition("{\n")[1]:
        return None
    for number, parameter in enumerate(each[1] for each in found[:bindings] if each):
        read = re.compile(rf"(ld\.param(?:::entry)?\.[ub]64\s+%\w+, )\[{parameter}\]")
        body, count = read.subn(rf"\1[%sets3+{8 * number}]", body)
        if re.search(rf"\b{parameter}\b", body) or not count:
            return None
    head = f"\t.param .align 8 .b8 {name}_sets[{8 * bindings * sets}]"
    start, brace, rest = body.partition("{\n")
    own = (
        "\t.reg .b32 \t%set<2>;\n\t.reg .b64 \t%sets<4>;\n"
        f"\tmov.u32 \t%set1, %ctaid.y;\n\tmul.wide.u32 \t%sets1, %set1, {8 * bindings};\n"
        f"\tmov.b64 \t%sets2, {name}_sets;\n\tadd.s64 \t%sets3, %sets2, %sets1;\n"
    )
    parameters = ",\n".join([head, *listed[bindings:]])
    return f".visible .entry {name}(\n{parameters}\n)\n{start}{brace}{own}{rest}"
