"""Pass `merge-equal-values`: the same op on the same values is computed once."""

from torch_mlir import ir

from dovetail.dialects.dovetail import ReadOp
from dovetail.dialects.reading import Module, is_used
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.equal_ops import CONSTANT, merge_equal


class MergeEqualValuesPass(Pass, name="merge-equal-values", runs_at="joint"):
    """Merges torch ops of equal name, operands, attributes and result types, and drops those that nothing uses.

    MLIR's own `cse` merges no torch op that takes a tensor: their dialect says of all of them that they read memory.
    Values have none, so nothing can change between two of them: not autograd's mode either, in which only
    `dovetail.view` makes something, and that is never merged. Library calls may draw random numbers: they are left
    alone. `a + b` is `b + a`, except for complex numbers, whose products round by order. What the user's checkpointing
    says of one op, it says of both: saved, if it says so of either, since then it is there; else computed anew.

    Before:  `%1 = torch.aten.exp %0; %2 = torch.aten.exp %0; %3 = torch.aten.mul.Tensor %1, %2`
    After:   `%1 = torch.aten.exp %0; %3 = torch.aten.mul.Tensor %1, %1`
    """

    def run(self, module: ir.Module) -> None:
        for ops in Module(module).bodies.values():
            _drop_unused(merge_equal(ops, _is_value))


def _is_value(op: ir.Operation) -> bool:
    name = op.name
    if name == "torch.operator":
        return not is_extern(op)
    return name.startswith(CONSTANT) or (name.startswith("torch.") and kind(op) is not Kind.UNKNOWN)


def _drop_unused(ops: list[ir.Operation]) -> None:
    for op in reversed(ops):
        removable = op.name == ReadOp.OPERATION_NAME or _is_value(op)
        if removable and not is_used(*op.results):
            op.erase()
