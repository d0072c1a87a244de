"""Pass `plan-epilogue`: everything handed to the user gets memory that nothing else has."""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import OwnOp, RefType
from dovetail.dialects.torch_facts.types import tensor_info
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.cloning import alias_root, body, clone_tensor, function, functions, of_class


@dataclass(frozen=True)
class PlanEpiloguePass(Pass, name="plan-epilogue", runs_at="split"):
    """Inserts a copy before an `own` or a gradient whose value lies in memory that the user, or another of them, has.

    Values have no memory, kernels give them some: two results computed by one kernel, or a result that is an
    argument's value, would alias where eager's don't.

    Before:  `%o = own %0; %p = own %0`
    After:   `%o = own %0; %1 = torch.aten.clone %0, %none; %p = own %1`
    """

    def run(self, module: ir.Module) -> None:
        found = functions(module)
        taken: set[ir.Value] = set()
        for op in of_class(body(function(module, "forward")), OwnOp):
            _separate(op, 0, taken)
        if "backward" in found:
            self._separate_gradients(found["backward"])

    def _separate_gradients(self, backward: func.FuncOp) -> None:
        """Autograd accumulates into a gradient in place when it holds the only reference."""
        returned = body(backward)[-1]
        taken = set(backward.body.blocks[0].arguments)
        for index, value in enumerate(returned.operands):
            if "vtensor" in str(value.type):
                _separate(returned, index, taken)


def _separate(op: ir.Operation, index: int, taken: set[ir.Value]) -> None:
    value = op.operands[index]
    root = alias_root(value)
    if root in taken or isinstance(root.type, RefType) or _is_literal(root) or _is_part(value, root):
        with op.location, ir.InsertionPoint(op):
            op.operands[index] = clone_tensor(value)
        return
    taken.add(root)


def _is_part(value: ir.Value, root: ir.Value) -> bool:
    """Whether `value` lies in memory that holds more, or fewer, elements than it shows."""
    shown, held = tensor_info(value.type), tensor_info(root.type)
    return shown is None or held is None or shown.numel != held.numel


def _is_literal(value: ir.Value) -> bool:
    """Whether `value` is one tensor for all calls, where ATen runs it."""
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name == "torch.vtensor.literal"
