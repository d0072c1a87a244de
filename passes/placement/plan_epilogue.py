"""Pass `plan-epilogue`: everything handed to the user gets memory that nothing else has."""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import OwnOp
from dovetail.dialects.dovetail.ops.copy import copy
from dovetail.dialects.reading import Module, Role, body, of_class, terminator
from dovetail.dialects.torch_facts.types import is_value_type
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.own_memory import shared_memory


@dataclass(frozen=True)
class PlanEpiloguePass(Pass, name="plan-epilogue", runs_at="split"):
    """Inserts a copy before an `own` or a gradient whose value lies in memory that the user, or another of them, has.

    Values have no memory, kernels give them some: two results computed by one kernel, or a result that is an
    argument's value, would alias where eager's don't.

    Before:  `%o = own %0; %p = own %0`
    After:   `%o = own %0; %1 = copy %0; %p = own %1`
    """

    def run(self, module: ir.Module) -> None:
        found = Module(module)
        taken: set[ir.Value] = set()
        for op in of_class(body(found.forward), OwnOp):
            _separate(op, 0, taken)
        if Role.BACKWARD in found:
            self._separate_gradients(found.backward)

    def _separate_gradients(self, backward: func.FuncOp) -> None:
        """Autograd accumulates into a gradient in place when it holds the only reference."""
        returned = terminator(backward)
        taken = set(backward.body.blocks[0].arguments)
        for index, value in enumerate(returned.operands):
            if is_value_type(value.type):
                _separate(returned, index, taken)


def _separate(op: ir.Operation, index: int, taken: set[ir.Value]) -> None:
    value = op.operands[index]
    if shared_memory(value, taken):
        with op.location, ir.InsertionPoint(op):
            op.operands[index] = copy(value).copied
