"""Which writes of `@call` the region that computes the value could make itself, and why the others can't be."""

from collections import Counter
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.calls import FORWARD, GROUP, MUTATED, is_border, is_guard, is_region, referred
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.dovetail import AllocOp, DestinationOp, OwnOp, RefType, SetMetadataOp, WriteOp
from dovetail.dialects.torch_ops import Kind, kind
from dovetail.passes.rewriting import alias_root, body, functions, has_argument_attribute, is_view


@dataclass(frozen=True, eq=False)
class Update:
    """A mutated argument, and where its new value comes from.

    Attributes:
        write: in `@call`.
        argument: of `@forward`, its memory.
        own: in `@forward`, hands out the new value.
        call: in `@forward`, of `region`, which computes it.
        place: the argument of the region that takes the new value; `value` is that value inside.
        known_as: the new value in `@forward`.
    """

    write: WriteOp
    argument: ir.Value
    own: ir.Operation
    call: ir.Operation
    region: func.FuncOp
    place: int
    value: ir.Value
    known_as: ir.Value


class Candidates:
    """What is asked of a module at level `regions` for each write, gathered once."""

    def __init__(self, module: ir.Module):
        self.functions = functions(module)
        self.caller, self.forward = self.functions["call"], self.functions["forward"]
        self.refs = {each for each in self.caller.body.blocks[0].arguments if isinstance(each.type, RefType)}
        called = [op for op in body(self.caller) if isinstance(op.opview, func.CallOp)]
        callees = [(self.functions[referred(op.opview, "callee")], op) for op in called]
        self.guards = [
            (callee, {each: place for place, each in enumerate(op.operands)})
            for callee, op in callees
            if is_guard(callee)
        ]
        changing = (op.opview for op in body(self.caller) if isinstance(op.opview, WriteOp | SetMetadataOp))
        self.changes = Counter(alias_root(view.ref) for view in changing)
        host = body(self.forward)
        self.returned = list(host[-1].operands)
        seen = [value for value in self.returned if not isinstance(value.type, RefType)]
        seen += [op.operands[0] for op in host if isinstance(op.opview, OwnOp)]
        self.seen = {alias_root(value) for value in seen}.union(*map(may_share, seen))
        self.region_calls = [op for op in host if isinstance(op.opview, func.CallOp)]
        self.writers = {each: op for op in self.region_calls for each in op.operands if _is_allocated(each)}

    def find(self, write: WriteOp) -> Update | str:
        """The update that `write` stores, or the reason why no region can store it."""
        refusal = self.refusal(write)
        if refusal:
            return refusal
        argument, own = self.in_forward(write)
        if argument in self.seen:
            return "its old value is handed out or saved"
        return self._computed(write, argument, own)

    def refusal(self, write: WriteOp) -> str:
        """Why what stands in `@call` forbids to write in place, empty if nothing does."""
        found = self._refused_by_caller(write) or self._refused_by_guard(write)
        return found or self._refused_by_border(write, write.value.owner.operation)

    def in_forward(self, write: WriteOp) -> tuple[ir.Value, ir.Operation]:
        """The argument of `@forward` that a write not refused goes to, and the op that hands out what is written."""
        entering = write.value.owner.operation
        argument = self.forward.body.blocks[0].arguments[list(entering.operands).index(write.ref)]
        return argument, self.returned[ir.OpResult(write.value).result_number].owner.operation

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
        if isinstance(owner, ir.Block) or not isinstance(owner.operation.opview, func.CallOp):
            return "its new value is not a result of the forward"
        if len(list(write.value.uses)) > 1:
            return "its new value is handed out too"
        return ""

    def _refused_by_guard(self, write: WriteOp) -> str:
        """Nothing else may lie in the argument's memory, which `@guard` checks in each call."""
        if self.refs == {write.ref}:
            return ""
        for callee, checked in self.guards:
            place = checked.get(write.ref)
            if place is None or place >= ir.IntegerAttr(callee.attributes[MUTATED]).value or self.refs - checked.keys():
                continue
            shares = has_argument_attribute(callee, place, GROUP)
            return "it shares memory with another argument" if shares else ""
        return "no guard keeps other arguments off its memory"

    def _refused_by_border(self, write: WriteOp, entering: ir.Operation) -> str:
        callee = self.functions[referred(entering.opview, "callee")]
        if is_guard(callee) or list(entering.operands).count(write.ref) != 1:
            return "the forward does not take it, or takes it twice"
        place = list(self.caller.body.blocks[0].arguments).index(write.ref)
        if is_border(callee) and has_argument_attribute(self.caller, place, "dovetail.requires_grad"):
            return "autograd follows the argument"
        entered = referred(callee, FORWARD) if is_border(callee) else referred(entering.opview, "callee")
        if entered != "forward":
            return "its new value is not a result of the forward"
        owner = self.returned[ir.OpResult(write.value).result_number].owner
        is_owned = not isinstance(owner, ir.Block) and isinstance(owner.operation.opview, OwnOp)
        return "" if is_owned else "the forward does not make its new value"

    def _computed(self, write: WriteOp, argument: ir.Value, own: ir.Operation) -> Update | str:
        value = own.operands[0]
        if own.results[0].type != RefType.of(value.type):
            return "its new value is laid out anew"
        if isinstance(value.owner, ir.Block) or value.owner.operation.name != "torch.copy.to_vtensor":
            return "its new value is not computed by a region"
        memory = value.owner.operation.operands[0]
        call = self.writers.get(memory)
        region = None if call is None else self.functions[referred(call.opview, "callee")]
        if call is None or region is None or not is_region(region):
            return "its new value is not computed by a region"
        place = list(call.operands).index(memory)
        inside = region.body.blocks[0].arguments[place]
        stored = next(iter(inside.uses)).owner.operation.operands[0]
        return Update(write, argument, own, call, region, place, stored, value)


def may_share(value: ir.Value) -> set[ir.Value]:
    """The arguments of the function in whose memory `value` may lie."""
    if isinstance(value.owner, ir.Block):
        return {value} if isinstance(value.type, RefType) else set()
    op = value.owner.operation
    follows = op.name.startswith("dovetail.") or is_view(op) or kind(op) in (Kind.VIEW, Kind.UNKNOWN)
    if control_flow_name(op):
        return set()  # its results are in memory of their own
    if op.name == "torch.copy.to_vtensor" or isinstance(op.opview, AllocOp | DestinationOp) or not follows:
        return set()
    return {each for operand in op.operands for each in may_share(operand)}


def _is_allocated(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and isinstance(value.owner.operation.opview, AllocOp)
