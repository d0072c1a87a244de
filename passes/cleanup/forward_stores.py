"""Pass `forward-stores`: what was written or read last need not be read again."""

from torch_mlir import ir

from dovetail.dialects.dovetail import ReadOp
from dovetail.dialects.reading import Module, body
from dovetail.passes.base import Pass
from dovetail.passes.cleanup.held_values import HeldValues


class ForwardStoresPass(Pass, name="forward-stores", runs_at="joint"):
    """Replaces a `read` by the value that its memory holds since an earlier `write` or `read`.

    Not across a write to memory that may be the same: of a view, or of another member of the guard's group.

    Before:  `%0 = read %x; write %1, %x; %2 = read %x; %3 = torch.aten.mul.Tensor %2, %0`
    After:   `%0 = read %x; write %1, %x; %3 = torch.aten.mul.Tensor %1, %0`
    """

    def run(self, module: ir.Module) -> bool:
        is_changed = False
        for function_op in Module(module).functions.values():
            held = HeldValues(function_op)
            for op in body(function_op):
                value = held.of(op.operands[0]) if op.name == ReadOp.OPERATION_NAME else None
                if value is None:
                    held.pass_by(op)
                else:
                    is_changed = True
                    op.results[0].replace_all_uses_with(value)
                    op.erase()
        return is_changed
