"""Pass `plan-epilogue`: everything handed to the user gets memory that nothing else has."""

from torch_mlir import ir

from dovetail.dialects.dovetail.ops.copy import copy
from dovetail.dialects.reading import Module
from dovetail.dialects.sizes.symbols import state_sizes
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.own_memory import foreign_memory, handed_out


class PlanEpiloguePass(Pass, name="plan-epilogue", runs_at="split"):
    """Inserts a copy before an `own` or a gradient whose value lies in memory that the user, or another of them, has.

    Values have no memory, kernels give them some: two results computed by one kernel, or a result that is an
    argument's value, would alias where eager's don't.

    Before:  `%o = own %0; %p = own %0`
    After:   `%o = own %0; %1 = copy %0; %p = own %1`
    """

    def run(self, module: ir.Module) -> bool:
        is_changed = False
        for each in handed_out(Module(module)):
            value = each.op.operands[each.index]
            if foreign_memory(value, each.taken):
                with each.op.location, ir.InsertionPoint(each.op):
                    each.op.operands[each.index] = state_sizes(copy(value).copied, value)
                is_changed = True
        return is_changed
