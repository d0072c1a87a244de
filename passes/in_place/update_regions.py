"""Builds the regions of updates in place, and what is left of the regions that computed the new values."""

from collections.abc import Container, Mapping
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.building.cloning import ancestors
from dovetail.dialects.building.region_builder import RegionBuilder, new_memory
from dovetail.dialects.memory.contents import load
from dovetail.dialects.reading import arguments, body, by_argument, made_by, producer, symbol
from dovetail.dialects.sizes.symbols import KnownSize, known_sizes, state_sizes
from dovetail.dialects.torch_facts.names import STORE
from dovetail.dialects.torch_facts.ops import is_constant
from dovetail.passes.in_place.candidates import Update
from dovetail.passes.in_place.cones import Cone, is_own
from dovetail.passes.rewriting.sums import with_sizes

_RESHAPES = ("torch.aten.reshape", "torch.aten.view")


@dataclass(frozen=True)
class SourceRegion:
    """A region that updates are taken out of.

    Attributes:
        call: its only one.
        taken: its arguments, by number, that nothing is stored to any more.
        wanted: its values that updates start from.
    """

    region: func.FuncOp
    call: ir.Operation
    taken: frozenset[int]
    wanted: tuple[ir.Value, ...]


def build_rest(source: SourceRegion, end: ir.Operation) -> dict[ir.Value, ir.Value]:
    """Builds what is left of a region, and the call of it, each before the old one, which stays.

    Nothing is left of a region that nothing needs. What updates start from is loaded before `end`. Returns what the
    host knows the old region's values as, where it knows them.
    """
    region, call = source.region, source.call
    known = by_argument(call, region)
    written = (tuple(op.operands) for op in body(region) if op.name == STORE)
    stores = [each for each in written if ir.BlockArgument(each[1]).arg_number not in source.taken]
    held = {value: known[memory] for value, memory in stores}
    shown = {value: _viewed(value, held) for value in dict.fromkeys(source.wanted) if value not in known}
    new = [value for value in dict.fromkeys(shown.values()) if value not in held]
    with call.location, ir.InsertionPoint(call):
        into = [new_memory(value) for value in new]
    held |= zip(new, into, strict=True)
    ops, taken = _needed(region, stores, new)
    if held:
        with region.location, ir.InsertionPoint(region):
            rest = RegionBuilder(symbol(region), taken, new)
            rest.compute(ops)
            for value, memory in stores:
                rest.store(rest.values[value], rest.values[memory])
            for value, memory in zip(new, rest.memory, strict=True):
                rest.store(rest.values[value], memory)
            rest.finish()
        with call.location, ir.InsertionPoint(call):
            func.CallOp([], symbol(region), [*(known[argument] for argument in taken), *into])
    with call.location, ir.InsertionPoint(end):
        loaded = {value: state_sizes(load(held[value]), value) for value in dict.fromkeys(shown.values())}
        return {value: with_sizes(loaded[each], _sizes(value)) for value, each in shown.items()} | known


def _viewed(value: ir.Value, held: Container[ir.Value]) -> ir.Value:
    """What is `held` and has the elements of `value` in the same order; `value` itself if nothing has."""
    each = value
    while each not in held:
        op = made_by(each, *_RESHAPES)
        if op is None or known_sizes(value) is None:
            return value
        each = op.operands[0]
    return each


def _sizes(value: ir.Value) -> tuple[KnownSize, ...]:
    return known_sizes(value) or ()


def _needed(
    region: func.FuncOp, stores: list[tuple[ir.Value, ir.Value]], values: list[ir.Value]
) -> tuple[list[ir.Operation], list[ir.Value]]:
    """The ops of `region` that compute what `stores` store and `values`, and the arguments that this takes."""
    wanted = [*(value for value, _ in stores), *values]
    computing = ancestors(op for value in wanted if (op := producer(value)))
    ops = [op for op in body(region) if op in computing and not is_constant(op)]
    used = {*wanted, *(memory for _, memory in stores), *(value for op in ops for value in op.operands)}
    return ops, [argument for argument in arguments(region) if argument in used]


@dataclass(frozen=True)
class UpdateBuilder:
    """Builds the regions that update arguments, at the module's end, and their calls, before `end`.

    Attributes:
        memory: each update's destination.
        known: what the host knows the values as that updates start from.
        updated: the new values of the updates built so far, as the host knows them.
    """

    module: ir.Module
    end: ir.Operation
    memory: Mapping[Update, ir.Value]
    known: Mapping[ir.Value, ir.Value]
    updated: dict[Update, ir.Value]

    def build(self, name: str, stage: Mapping[Update, Cone]) -> None:
        """Builds the region `name`, which makes the updates of one stage, after the stages that it depends on."""
        read = dict.fromkeys(value for update, cone in stage.items() for value in self._read(update, cone))
        operands = [*read, *(self.memory[update] for update in stage)]
        with self.end.location, ir.InsertionPoint(self.module.body):
            region = RegionBuilder(name, operands)
            computed: dict[Update, ir.Value] = {}
            for update, cone in stage.items():
                computed[update] = self._compute(region, update, cone, computed)
            for update, value in computed.items():
                region.store(value, region.values[self.memory[update]])
            region.finish()
        with self.end.location, ir.InsertionPoint(self.end):
            func.CallOp([], name, operands)
            self.updated.update({update: state_sizes(load(self.memory[update]), update.value) for update in stage})

    def _read(self, update: Update, cone: Cone) -> list[ir.Value]:
        """What an update reads besides the memory that it updates."""
        values = [self.known[value] for value in cone.starts if not is_own(update, value)]
        return [*values, *(self.updated[other] for other in cone.updated.values() if other in self.updated)]

    def _compute(
        self, region: RegionBuilder, update: Update, cone: Cone, computed: Mapping[Update, ir.Value]
    ) -> ir.Value:
        """Clones a cone to the region, where other updates are `computed`; returns the new value there."""
        own = [value for value in cone.starts if is_own(update, value)]
        values = {value: region.values[self.known[value]] for value in cone.starts if value not in own}
        for value, other in cone.updated.items():
            values[value] = computed[other] if other in computed else region.values[self.updated[other]]
        if own:
            values |= dict.fromkeys(own, region.load(region.values[self.memory[update]]))
        region.compute(cone.ops, values)
        return values[update.value]
