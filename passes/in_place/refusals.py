"""What stands in `@call`, its guard and its border that forbids to write an argument in place."""

from collections import Counter
from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import FORWARD, GROUP, MUTATED, REQUIRES_GRAD
from dovetail.dialects.calls import is_border, is_guard, referred
from dovetail.dialects.dovetail import OwnOp, RefType, SetMetadataOp, WriteOp
from dovetail.passes.rewriting.cloning import alias_root, has_argument_attribute, of_class


class Refusals:
    """What is asked of the caller for each write, gathered once: an optimizer writes hundreds of arguments.

    `functions` are those of a module at level `regions`, `bodies` their operations.
    """

    def __init__(self, functions: Mapping[str, func.FuncOp], bodies: Mapping[str, Sequence[ir.Operation]]):
        self.functions, self.caller = functions, functions["call"]
        self.entered = list(functions["forward"].body.blocks[0].arguments)
        self.returned = list(bodies["forward"][-1].operands)
        self.numbers = {each: number for number, each in enumerate(self.caller.body.blocks[0].arguments)}
        self.refs = {each for each in self.numbers if isinstance(each.type, RefType)}
        changing = (op.opview for op in of_class(bodies["call"], WriteOp, SetMetadataOp))
        self.changes = Counter(alias_root(view.ref) for view in changing)
        calls = of_class(bodies["call"], func.CallOp)
        self.places = {op: _places(op) for op in calls}
        callees = ((functions[referred(op.opview, "callee")], op) for op in calls)
        # A guard that leaves an argument out says nothing of what else lies there.
        self.guards = [
            (callee, self.places[op], ir.IntegerAttr(callee.attributes[MUTATED]).value)
            for callee, op in callees
            if is_guard(callee) and self.refs <= self.places[op].keys()
        ]

    def refusal(self, write: WriteOp) -> str:
        """Why what stands in `@call` forbids to write in place, empty if nothing does."""
        found = self._refused_by_caller(write) or self._refused_by_guard(write)
        return found or self._refused_by_border(write, write.value.owner.operation)

    def in_forward(self, write: WriteOp) -> tuple[ir.Value, ir.Operation]:
        """The argument of `@forward` that a write not refused goes to, and the op that hands out what is written."""
        (place,) = self.places[write.value.owner.operation][write.ref]
        return self.entered[place], self.returned[ir.OpResult(write.value).result_number].owner.operation

    def _refused_by_caller(self, write: WriteOp) -> str:
        if write.mode_name == "tracked":
            return "autograd follows the write"
        if not isinstance(write.ref.owner, ir.Block):
            return "it is written through a view"
        if write.ref.type.strides != write.ref.type.info.contiguous_strides:
            return "its memory is not contiguous"
        if self.changes[write.ref] > 1:
            return "the caller changes it more than once"
        owner = write.value.owner
        if isinstance(owner, ir.Block) or owner.operation not in self.places:
            return "its new value is not a result of the forward"
        if len(list(write.value.uses)) > 1:
            return "its new value is handed out too"
        return ""

    def _refused_by_guard(self, write: WriteOp) -> str:
        """Nothing else may lie in the argument's memory, which `@guard` checks in each call."""
        if self.refs == {write.ref}:
            return ""
        for callee, places, mutated in self.guards:
            place = places[write.ref][-1]
            if place < mutated:
                shares = has_argument_attribute(callee, place, GROUP)
                return "it shares memory with another argument" if shares else ""
        return "no guard keeps other arguments off its memory"

    def _refused_by_border(self, write: WriteOp, entering: ir.Operation) -> str:
        callee = self.functions[referred(entering.opview, "callee")]
        if is_guard(callee) or len(self.places[entering].get(write.ref, ())) != 1:
            return "the forward does not take it, or takes it twice"
        number = self.numbers[write.ref]
        if is_border(callee) and has_argument_attribute(self.caller, number, REQUIRES_GRAD):
            return "autograd follows the argument"
        entered = referred(callee, FORWARD) if is_border(callee) else referred(entering.opview, "callee")
        if entered != "forward":
            return "its new value is not a result of the forward"
        owner = self.returned[ir.OpResult(write.value).result_number].owner
        is_owned = not isinstance(owner, ir.Block) and owner.operation.name == OwnOp.OPERATION_NAME
        return "" if is_owned else "the forward does not make its new value"


def _places(call: ir.Operation) -> dict[ir.Value, list[int]]:
    """Where a call takes each of its operands."""
    places: dict[ir.Value, list[int]] = {}
    for place, operand in enumerate(call.operands):
        places.setdefault(operand, []).append(place)
    return places
