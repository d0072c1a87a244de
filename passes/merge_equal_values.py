"""Pass `merge-equal-values`: the same op on the same values is computed once."""

from dataclasses import dataclass

from torch_mlir import ir

from dovetail.dialects.calls import is_extern
from dovetail.dialects.dovetail import ReadOp
from dovetail.dialects.torch_ops import Kind, kind
from dovetail.passes.base import Pass
from dovetail.passes.rewriting import body, functions


@dataclass(frozen=True)
class MergeEqualValuesPass(Pass, name="merge-equal-values"):
    """Merges torch ops of equal name, operands, attributes and result types, and drops those that nothing uses.

    MLIR's own `cse` merges no torch op that takes a tensor: their dialect says of all of them that they read memory.
    Values have none, so nothing can change between two of them. Library calls may draw random numbers: they are left
    alone.

    Before:  `%1 = torch.aten.exp %0; %2 = torch.aten.exp %0; %3 = torch.aten.mul.Tensor %1, %2`
    After:   `%1 = torch.aten.exp %0; %3 = torch.aten.mul.Tensor %1, %1`
    """

    def run(self, module: ir.Module) -> None:
        for function_op in functions(module).values():
            if not function_op.is_external:
                _merge(body(function_op))
                _drop_unused(body(function_op))


def _is_value(op: ir.Operation) -> bool:
    return (
        op.name.startswith("torch.")
        and not is_extern(op)
        and (kind(op) is not Kind.UNKNOWN or op.name == "torch.operator")
    )


def _merge(ops: list[ir.Operation]) -> None:
    seen: dict[tuple, ir.Operation] = {}
    for op in ops:
        if not _is_value(op):
            continue
        attributes = tuple(sorted((attribute, str(op.attributes[attribute])) for attribute in op.attributes))
        key = (op.name, tuple(op.operands), attributes, tuple(str(result.type) for result in op.results))
        first = seen.setdefault(key, op)
        if first is op:
            continue
        for old, new in zip(op.results, first.results, strict=True):
            old.replace_all_uses_with(new)
        op.erase()


def _drop_unused(ops: list[ir.Operation]) -> None:
    for op in reversed(ops):
        removable = _is_value(op) or isinstance(op.opview, ReadOp)
        if removable and not any(True for result in op.results for _ in result.uses):
            op.erase()
