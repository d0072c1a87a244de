"""What stands in `@call`, its guard and its border that forbids to write an argument in place."""

from collections import Counter

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import FORWARD, GROUP, MUTATED, REQUIRES_GRAD
from dovetail.dialects.by_key import by_key
from dovetail.dialects.dovetail import OwnOp, RefType, SetMetadataOp, WriteOp
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import Module, Role, argument_fact, arguments, made_by, of_class, referred, role
from dovetail.dialects.sizes.known_strides import lies_in_rows


class CallerWrites:
    """What is asked of the caller for each write, gathered once: an optimizer writes hundreds of arguments.

    `module` is at level `regions`.
    """

    def __init__(self, module: Module):
        self.module, self.caller = module, module.call
        ops = module.ops(module.call)
        self.entered = arguments(module.forward)
        self.returned = list(module.ops(module.forward)[-1].operands)
        self.numbers = {argument: number for number, argument in enumerate(arguments(self.caller))}
        self.refs = {argument for argument in self.numbers if isinstance(argument.type, RefType)}
        changing = (op.opview for op in of_class(ops, WriteOp, SetMetadataOp))
        self.changes = Counter(memory_root(view.ref) for view in changing)
        calls = of_class(ops, func.CallOp)
        self.positions = {op: _positions(op) for op in calls}
        callees = ((module.callee(op), op) for op in calls)
        # A guard that leaves an argument out says nothing of what else lies there.
        self.guards = [
            (callee, self.positions[op], ir.IntegerAttr(callee.attributes[MUTATED]).value)
            for callee, op in callees
            if role(callee) is Role.GUARD and self.refs <= self.positions[op].keys()
        ]

    def refusal(self, write: WriteOp) -> str:
        """Why what stands in `@call` forbids to write in place, empty if nothing does."""
        found = self._refused_by_caller(write) or self._refused_by_guard(write)
        return found or self._refused_by_border(write, write.value.owner.operation)

    def in_forward(self, write: WriteOp) -> tuple[ir.Value, ir.Operation]:
        """The argument of `@forward` that a write not refused goes to, and the op that hands out what is written."""
        (index,) = self.positions[write.value.owner.operation][write.ref]
        return self.entered[index], self.returned[ir.OpResult(write.value).result_number].owner.operation

    def _refused_by_caller(self, write: WriteOp) -> str:
        if write.mode_name == "tracked":
            return "autograd follows the write"
        if write.ref not in self.refs:
            return "it is written through a view"
        if not lies_in_rows(write.ref):
            return "its memory is not contiguous" if write.ref.type.is_static else "its memory may not be contiguous"
        if self.changes[write.ref] > 1:
            return "the caller changes it more than once"
        if made_by(write.value, func.CallOp.OPERATION_NAME) not in self.positions:
            return "its new value is not a result of the forward"
        if len(list(write.value.uses)) > 1:
            return "its new value is handed out too"
        return ""

    def _refused_by_guard(self, write: WriteOp) -> str:
        """Nothing else may lie in the argument's memory, which `@guard` checks in each call."""
        if self.refs == {write.ref}:
            return ""
        for callee, indices, mutated in self.guards:
            index = indices[write.ref][-1]
            if index < mutated:
                shares = argument_fact(callee, index, GROUP) is not None
                return "it shares memory with another argument" if shares else ""
        return "no guard keeps other arguments off its memory"

    def _refused_by_border(self, write: WriteOp, entering: ir.Operation) -> str:
        callee = self.module.callee(entering)
        if role(callee) is Role.GUARD or len(self.positions[entering].get(write.ref, ())) != 1:
            return "the forward does not take it, or takes it twice"
        number = self.numbers[write.ref]
        if role(callee) is Role.BORDER and argument_fact(self.caller, number, REQUIRES_GRAD) is not None:
            return "autograd follows the argument"
        entered = self.module.functions[referred(callee, FORWARD)] if role(callee) is Role.BORDER else callee
        if role(entered) is not Role.FORWARD:
            return "its new value is not a result of the forward"
        is_owned = made_by(self.returned[ir.OpResult(write.value).result_number], OwnOp.OPERATION_NAME)
        return "" if is_owned else "the forward does not make its new value"


def _positions(call: ir.Operation) -> dict[ir.Value, list[int]]:
    """Where a call takes each of its operands."""
    return by_key((operand, index) for index, operand in enumerate(call.operands))
