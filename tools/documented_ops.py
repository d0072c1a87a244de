"""The sections of docs/ops.md: why ops are left to ATen, what rows can say, what kinds claim, and every row."""

import re
from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from functools import cache

import torch
from torch_mlir import ir

from dovetail.dialects.context import make_context
from dovetail.dialects.torch_facts import row as kinds
from dovetail.dialects.torch_facts.element_types import FLOATS, INTEGERS
from dovetail.dialects.torch_facts.ops import NAMESPACES, row_of_name
from dovetail.dialects.torch_facts.refused import Refused
from dovetail.dialects.torch_facts.row import Kind, Row
from dovetail.dialects.torch_facts.rows import FILES
from dovetail.dialects.torch_facts.rows.kinds import OF_KINDS, OfKinds
from dovetail.frontend.decompose.replacements import REPLACEMENTS
from dovetail.passes.placement.reasons import NO_DIALECT, REASONS, Reason
from dovetail.tools.documented_attributes import documented_attributes
from dovetail.tools.markdown import table

_CLAIMS_NOTHING = Row("")
_KINDS = {
    Kind.VIEW: kinds.view(""),
    Kind.POINTWISE: kinds.pointwise(""),
    Kind.REDUCTION: kinds.reduction(""),
    Kind.MOVEMENT: kinds.movement(""),
    Kind.CREATION: kinds.creation(""),
    Kind.LIBRARY: kinds.library(""),
    Kind.UNKNOWN: _CLAIMS_NOTHING,
}
_COMPUTED = (Kind.POINTWISE, Kind.REDUCTION, Kind.MOVEMENT, Kind.CREATION)
_TYPES = {(): "", FLOATS: " (floats)", INTEGERS: " (integers)"}
_REASONS_HEAD = ("reason, in `dovetail.stats()` and `dovetail.explain()`", "what changes it")
_UNTIL = "where a newer IREE no longer needs it"
_OWN_COLUMNS = ("name", "kind", "refused")


def ops_sections() -> dict[str, str]:
    """The sections by name."""
    rows = "\n".join(map(_file, FILES))
    return {"ops:reasons": _reasons(), "ops:fields": _fields(), "ops:kinds": _claims(), "ops:rows": rows}


def _reasons() -> str:
    own = "one of those in the right column below", f"`refused` of the op's row, {_UNTIL}; a replacement before that"
    kinds = ((f"`{each.refused.reason}`", _changed_by(each)) for each in OF_KINDS)
    placed = ((f"`{stated(each)}`{'' if each.is_fallback else ' (no fallback)'}", each.changed_by) for each in REASONS)
    return "\n".join(table(_REASONS_HEAD, (own, *kinds, *placed))) + "\n"


def stated(reason: Reason) -> str:
    """A reason, with dots for what only the op tells."""
    return re.sub(r"{[^}]*}", "…", reason.text)


def _changed_by(each: OfKinds) -> str:
    excepted = f"`{each.excepted}` of the op's row; " if each.excepted else ""
    return f"{excepted}the rule in `dialects/torch_facts/rows/kinds.py`, {_UNTIL}"


def _fields() -> str:
    return f"{_table('field', Row)}\n{_table('field of `refused`', Refused)}"


def _table(title: str, cls: type) -> str:
    rows = ((f"`{name}`", text) for name, text in documented_attributes(cls).items())
    return "\n".join(table((title, "says"), rows)) + "\n"


def _claims() -> str:
    rows = ((kind.value, _said(op, _CLAIMS_NOTHING)) for kind, op in _KINDS.items())
    return "\n".join(table(("kind", "claims, unless a row says otherwise"), rows)) + "\n"


def _file(name: str) -> str:
    rows = ((f"`{row.name}`", _said(row, _KINDS[row.kind]), "; ".join(_refusals(row))) for row in FILES[name])
    lines = [f"### `{name}.py`", "", *table(("op", "besides its kind", "what IREE is not given"), rows)]
    return "\n".join(lines) + "\n"


def _said(row: Row, default: Row) -> str:
    """The fields in which `row` differs from `default`."""
    names = [each.name for each in fields(Row) if each.name not in _OWN_COLUMNS]
    differing = [name for name in names if getattr(row, name) != getattr(default, name)]
    return ", ".join(f"`{name}` {_value(getattr(row, name))}" for name in differing)


def _value(value) -> str:
    match value:
        case Enum():
            return str(value.value)
        case bool():
            return "yes" if value else "no"
        case tuple():
            return " ".join(map(str, value)) or "none"
        case None:
            return "by result"
    return str(getattr(value, "__qualname__", value)).partition(".<locals>")[0]


def _refusals(row: Row) -> Iterator[str]:
    for refused in row.refused:
        types = _TYPES.get(refused.dtypes, f" ({' '.join(refused.dtypes)})")
        overloads = "".join(f" `.{overload}`" for overload in refused.overloads)
        yield f"{refused.reason}{types}{overloads}"
    replaced = [f"`.{each._overloadname}`" for each in REPLACEMENTS if row_of_name(str(each)) is row]
    if replaced:
        yield f"replaced: {' '.join(replaced)}"
    elif row.kind in _COMPUTED and not any(map(_context().is_registered_operation, _torch_names(row))):
        yield NO_DIALECT.text


def _torch_names(row: Row) -> Iterator[str]:
    """What the torch dialect would call the overloads that a row is of."""
    name, _, overload = row.name.partition(".")
    for namespace in NAMESPACES:
        packet = getattr(getattr(torch.ops, namespace), name, None)
        for each in [overload] if overload else packet.overloads() if packet else []:
            yield f"torch.{namespace}.{name}" + ("" if each == "default" else f".{each}")


@cache
def _context() -> ir.Context:
    return make_context()
