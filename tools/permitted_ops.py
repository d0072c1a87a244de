"""Which of PyTorch's operators a module from a file may call. docs/commands.md says whom to trust with what."""

from torch_mlir import ir

from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.dovetail import ViewOp
from dovetail.dialects.torch_facts.ops import aten_name
from dovetail.errors import ModuleError

NAMESPACES = ("aten", "prims")
"""PyTorch's operators on tensors. Its other namespaces hold what talks to processes, profilers and backends."""

REFUSED = ("aten.from_file", "aten._print")
"""Of these, the ones that open files, or write to the terminal."""


def check_permitted(module: ir.Module) -> None:
    """Raises ModuleError if `module` calls an operator that no module from a file may call, with its location."""
    found: list[ir.Operation] = []

    def collect(op: ir.Operation) -> ir.WalkResult:
        found.append(op.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(collect)
    for op in found:
        try:
            name = _operator(op)
        except RuntimeError as error:
            raise ModuleError(f"{op.location}: the operator's name is no UTF-8 text: {error}") from error
        if name is not None and not _is_permitted(name):
            expected = f"expected one of {' or '.join(NAMESPACES)}, but for {' and '.join(REFUSED)}"
            raise ModuleError(f"{op.location}: a module from a file may not call the operator {name!r}, {expected}")


def _is_permitted(name: str) -> bool:
    namespace, packet = name.split(".")[:2]
    return namespace in NAMESPACES and f"{namespace}.{packet}" not in REFUSED


def _operator(op: ir.Operation) -> str | None:
    if isinstance(op.opview, ViewOp):
        return f"{op.opview.callee_name}."  # anything may stand there
    return None if control_flow_name(op) else aten_name(op)
