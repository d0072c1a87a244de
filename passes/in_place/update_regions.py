"""Building the regions of updates in place, and taking them out of the regions that they were in."""

from collections.abc import Iterable, Mapping

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.calls import referred, symbol
from dovetail.dialects.dovetail.ops.alloc import alloc
from dovetail.dialects.memory.contents import STORE, load, store
from dovetail.dialects.torch_facts.types import memory_type
from dovetail.passes.in_place.candidates import Update
from dovetail.passes.in_place.cones import Cone, is_own
from dovetail.passes.rewriting.cloning import body, set_signature
from dovetail.passes.rewriting.region_builder import RegionBuilder


class Source:
    """A region that updates are taken out of.

    Attributes:
        taken: its arguments that the updates were stored to.
        outside: what the host knows the region's values as, where it knows them.
    """

    def __init__(self, region: func.FuncOp, call: ir.Operation, end: ir.Operation):
        self.region, self.call, self.end = region, call, end
        self.terminator = body(region)[-1]
        self.taken: set[int] = set()
        arguments = list(region.body.blocks[0].arguments)
        self.outside: dict[ir.Value, ir.Value] = dict(zip(arguments, call.operands, strict=True))
        self.operands = list(call.operands)

    def hand_out(self, values: Iterable[ir.Value]) -> None:
        """Makes each of `values` known to the host, by a further destination where the region stores it nowhere."""
        for value in values:
            if value not in self.outside:
                memory = self._stored(value) or self._store(value)
                with self.call.location, ir.InsertionPoint(self.end):
                    self.outside[value] = load(memory)

    def _stored(self, value: ir.Value) -> ir.Value | None:
        for use in value.uses:
            user = use.owner.operation
            if user.name == STORE and ir.BlockArgument(user.operands[1]).arg_number not in self.taken:
                return self.operands[ir.BlockArgument(user.operands[1]).arg_number]
        return None

    def _store(self, value: ir.Value) -> ir.Value:
        with self.call.location, ir.InsertionPoint(self.call):
            memory = alloc(memory_type(value.type)).memory
        inside = self.region.body.blocks[0].add_argument(memory.type, self.terminator.location)
        with self.terminator.location, ir.InsertionPoint(self.terminator):
            store(value, inside)
        self.operands.append(memory)
        return memory

    def prune(self) -> None:
        """Removes what only the updates needed, in the region and around its call."""
        block = self.region.body.blocks[0]
        for op in reversed(body(self.region)[:-1]):
            is_taken = op.name == STORE and ir.BlockArgument(op.operands[1]).arg_number in self.taken
            is_dead = op.name != STORE and not any(True for result in op.results for _ in result.uses)
            if is_taken or is_dead:
                op.erase()
        used = [any(True for _ in argument.uses) for argument in block.arguments]
        if any(op.name == STORE for op in body(self.region)):
            operands = [each for each, is_used in zip(self.operands, used, strict=True) if is_used]
            with self.call.location, ir.InsertionPoint(self.call):
                func.CallOp([], referred(self.call.opview, "callee"), operands)
        self.call.erase()
        for place in reversed(range(len(used))):
            if not used[place]:
                block.erase_argument(place)
                _drop_memory(self.operands[place])
        if any(op.name == STORE for op in body(self.region)):
            set_signature(self.region, [])
        else:
            self.region.operation.erase()


def make_update(
    module: ir.Module,
    name: str,
    stage: Mapping[Update, Cone],
    end: ir.Operation,
    sources: Mapping[str, Source],
    memory: Mapping[Update, ir.Value],
    updated: dict[Update, ir.Value],
) -> None:
    """Builds the region `name` of one stage at the module's end, and its call before `end`.

    `memory` is each update's destination; `updated` knows the new values of earlier stages and gets those of this one.
    """
    operands: dict[ir.Value, None] = {}
    for each, cone in stage.items():
        outside = sources[symbol(each.region)].outside
        operands |= dict.fromkeys(outside[value] for value in cone.inputs if not is_own(each, value))
        operands |= dict.fromkeys(updated[other] for other in cone.updated.values())
    into = [memory[each] for each in stage]
    with end.location, ir.InsertionPoint(module.body):
        region = RegionBuilder(name, [*operands, *into])
        stored = {}
        for each, cone in stage.items():
            outside = sources[symbol(each.region)].outside
            stored[memory[each]] = _compute(region, each, cone, outside, updated, memory[each])
        for destination, value in stored.items():
            region.store(value, region.values[destination])
        region.finish()
    with end.location, ir.InsertionPoint(end):
        func.CallOp([], name, [*operands, *into])
        for each in stage:
            updated[each] = load(memory[each])


def _compute(
    region: RegionBuilder,
    update: Update,
    cone: Cone,
    outside: Mapping[ir.Value, ir.Value],
    updated: Mapping[Update, ir.Value],
    destination: ir.Value,
) -> ir.Value:
    """Clones a cone to the region; returns the new value there."""
    values = {value: region.values[updated[other]] for value, other in cone.updated.items()}
    own = [value for value in cone.inputs if is_own(update, value)]
    values |= {value: region.values[outside[value]] for value in cone.inputs if value not in own}
    if own:
        values |= dict.fromkeys(own, region.load(region.values[destination]))
    region.compute(cone.ops, values)
    return values[update.value]


def _drop_memory(value: ir.Value) -> None:
    """Erases an allocation that nobody writes or reads any more."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "dovetail.alloc":
        return
    for use in list(value.uses):
        use.owner.operation.erase()
    value.owner.operation.erase()
