"""Pass `drop-redundant-copies`: what functionalization left behind."""

from dataclasses import dataclass

from torch_mlir import ir

from dovetail.dialects.calls import is_extern
from dovetail.dialects.torch_ops import aten_name
from dovetail.passes.base import Pass
from dovetail.passes.rewriting import body, functions

# On values, which have no memory, these return their operand; on memory they would not.
_SAME_VALUE = ("aten.clone.default", "aten.alias.default", "aten.detach.default", "aten.lift_fresh_copy.default",
               "aten.contiguous.default", "aten.copy.default")  # fmt: skip


@dataclass(frozen=True)
class DropRedundantCopiesPass(Pass, name="drop-redundant-copies"):
    """Forwards the operand of copies, casts, expansions and reshapes that change neither element type nor shape.

    Values are immutable, so a copy of one is that one; memory of its own is what `own` and `write` give. `copy(a, b)`
    of equal types is `b`.

    Before:  `%1 = torch.aten.clone %0, %none; %2 = torch.aten.mul.Tensor %1, %1`
    After:   `%2 = torch.aten.mul.Tensor %0, %0`
    """

    def run(self, module: ir.Module) -> None:
        defined = [each for each in functions(module).values() if not each.is_external]
        for function_op in defined:
            for op in body(function_op):
                source = _source(op)
                if source is not None:
                    op.results[0].replace_all_uses_with(source)
                    op.erase()


def _source(op: ir.Operation) -> ir.Value | None:
    """The operand that `op` returns unchanged, or None."""
    name = aten_name(op)
    if name is None or len(op.results) != 1 or is_extern(op):
        return None
    if name == "aten.copy.default":
        return op.operands[1] if op.operands[1].type == op.results[0].type else None
    same_value = name in _SAME_VALUE
    same_type = name in (
        "aten._to_copy.default",
        "aten.expand.default",
        "aten.view.default",
        "aten._unsafe_view.default",
    )
    if not (same_value or same_type):
        return None
    return op.operands[0] if op.operands[0].type == op.results[0].type else None
