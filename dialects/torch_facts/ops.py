"""What the compiler knows of torch-dialect ops: their ATen names, and the row of each.

`dialects/torch_facts/rows/` has one row an op, in files by kind; CONTRIBUTING.md ("An ATen op") says how to add one.
Rows follow PyTorch where it says something itself: test/dialects/torch_facts holds them against its tags, schemas and
kernels. They are ours so that passes run without importing torch.
"""

from functools import cache
from typing import TYPE_CHECKING

from torch_mlir import ir

from dovetail.dialects.torch_facts.arithmetic import ARITHMETIC, CONVERSIONS
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.row import Kind, Row, constant, view
from dovetail.dialects.torch_facts.rows import ROWS
from dovetail.dialects.torch_facts.types import holds_tensors, is_torch_type

if TYPE_CHECKING:
    import torch

NAMESPACES = ("aten", "prims")
"""Of the ops that have rows here."""

# "dovetail": branches and loops, see `control_flow`.
_NOT_ATEN = ("constant", "prim", "vtensor", "overwrite", "copy", "dovetail")

_UNKNOWN, _CONSTANT = Row(""), constant("")
_LIST_OF_TENSORS = view(LIST)


def aten_name(op: ir.Operation) -> str | None:
    """The ATen overload that a torch-dialect op calls, e.g. "aten.add.Tensor"; None for any other op."""
    name = op.name
    return _overload(ir.StringAttr(op.attributes["name"]).value if name == "torch.operator" else name)


@cache
def _overload(name: str) -> str | None:
    parts = name.split(".")
    if parts[0] != "torch" or len(parts) < 3 or parts[1] in _NOT_ATEN:
        return None
    return ".".join(parts[1:] if len(parts) > 3 else [*parts[1:], "default"])


def op_name(func: "torch._ops.OpOverload") -> str:
    """The name by which the IR calls an op of PyTorch's."""
    return f"{func.namespace}.{func._opname}.{func._overloadname}"


def is_constant(op: ir.Operation) -> bool:
    """Whether `op` makes a Python value (a number, a list, None): free, and cloned wherever it is used.

    A number may be open: a function's argument, or computed of such.
    """
    name = op.name
    if name == LIST:
        # Mostly of whole numbers, which its type says.
        return is_torch_type(op.result.type, "list<int>") or not any(holds_tensors(each.type) for each in op.operands)
    return name.startswith("torch.constant.") or name in CONVERSIONS or name in ARITHMETIC


def row(op: ir.Operation) -> Row:
    """The row of an op of the torch dialect; for an op without one, a row that claims nothing."""
    name = op.name
    if name == "torch.operator":
        called = aten_name(op)
        return _UNKNOWN if called is None else row_of_name(called)
    if name == LIST:
        return _CONSTANT if is_constant(op) else _LIST_OF_TENSORS
    return _row(name)


def kind(op: ir.Operation) -> Kind:
    """What kind of work a torch-dialect op is."""
    return row(op).kind


@cache
def _row(name: str) -> Row:
    """By the name of an op of the torch dialect."""
    if name.startswith("torch.constant.") or name in CONVERSIONS or name in ARITHMETIC:
        return _CONSTANT
    if name in ROWS:
        return ROWS[name]
    aten = _overload(name)
    return _UNKNOWN if aten is None else row_of_name(aten)


@cache
def row_of_name(name: str) -> Row:
    """Like `row`, for an overload's name, e.g. "aten.add.Tensor". A custom op has none, whatever it is called."""
    namespace, base, *overload = name.split(".")
    if namespace not in NAMESPACES:
        return _UNKNOWN
    own = ROWS.get(".".join((base, *overload)))
    return own or ROWS.get(base, _UNKNOWN)


def row_of_func(func: "torch._ops.OpOverload") -> Row:
    """Like `row`, for an op of PyTorch's."""
    return row_of_name(op_name(func))


def is_awaited(name: str) -> bool:
    """Whether the host waits for the values that the overload `name` reads."""
    return name.rpartition(".")[2] in row_of_name(name).awaited


def kind_of_name(name: str) -> Kind:
    """Like `kind`, for an overload's name."""
    return row_of_name(name).kind
