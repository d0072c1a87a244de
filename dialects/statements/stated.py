"""Attributes that must be there, read by their class: else an error that names the location and what would be valid."""

from typing import Any

from torch_mlir import ir

from dovetail.errors import ModuleError

_KINDS = {ir.StringAttr: "a string", ir.IntegerAttr: "an integer", ir.FlatSymbolRefAttr: "a symbol"}


def named(attributes: Any, name: str) -> ir.Attribute | None:
    """The attribute `name` among `attributes`, which are no Python dict; None without."""
    return attributes[name] if name in attributes else None  # noqa: SIM401


def stated(op: ir.OpView | ir.Operation, name: str, kind: Any) -> Any:
    """The value of the attribute `name` of `op`, a string, an integer or a symbol.

    Raises:
        ModuleError: if `op` has none of that kind.
    """
    return stated_by(op, op.attributes, name, kind)


def stated_by(where: str | ir.OpView | ir.Operation, attributes: Any, name: str, kind: Any) -> Any:
    """Like `stated`, of `attributes` that the message says to stand at `where`."""
    found = named(attributes, name)
    if not isinstance(found, kind):
        # A location's text costs more than all else here.
        where = where if isinstance(where, str) else f"{where.location}: '{where.operation.name}' op"
        got = "none" if found is None else found
        raise ModuleError(f"{where} expects {_KINDS[kind]} as attribute '{name}', got {got}")
    return found.value
