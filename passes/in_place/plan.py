"""Which updates are made in place, and in what order: one that loses no value that is still to be read."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.calls import symbol
from dovetail.dialects.memory.contents import STORE
from dovetail.dialects.torch_facts.types import require_tensor_info
from dovetail.passes.in_place.candidates import Update, may_share
from dovetail.passes.in_place.cones import Cone, Cones, is_own, passed
from dovetail.passes.rewriting.cloning import ancestors, body

MAX_INPUTS = 16
"""Tensors that one update may read. IREE made one dispatch of 19, two of 31 (docs/decisions/0012)."""

MAX_INPUTS_TWICE = 2
"""Tensors that an update may read if something else needs the new value too: with more, a copy moves fewer bytes."""


@dataclass(frozen=True)
class Plan:
    """Updates in place by stage, each stage to run after the one before; and the refused ones with the reason.

    The new values of those in `kept` are needed before the updates are made, so they are computed twice.
    """

    stages: list[dict[Update, Cone]]
    refused: dict[Update, str]
    kept: set[Update]


RegionCalls = Sequence[tuple[ir.Operation, func.FuncOp]]


def plan_updates(updates: Sequence[Update], calls: RegionCalls) -> Plan:
    """Refuses updates until each of those left has a pointwise cone, and all have an order to run in.

    `calls` are all calls of regions in `@forward`, in order.
    """
    alive, refused = list(updates), dict[Update, str]()
    while True:
        stored, known = _stored(alive, calls), Cones(alive)
        cones = {each: known.cone(each, stored[symbol(each.region)]) for each in alive}
        computed, kept = _needed(cones, stored, calls)
        reasons = {each: _refusal(each, cone, each in kept or _owner(each) in computed) for each, cone in cones.items()}
        verdicts = {each: reason for each, reason in reasons.items() if reason}
        stages = _stages(cones)
        if not verdicts:
            placed = {each for stage in stages for each in stage}
            stuck = [each for each in alive if each not in placed]
            verdicts = dict.fromkeys(stuck[:1], "its old value is still needed when its new one is")
        if not verdicts:
            return Plan(stages, refused, kept)
        refused |= verdicts
        alive = [each for each in alive if each not in verdicts]


def _stored(alive: list[Update], calls: RegionCalls) -> dict[str, set[ir.Value]]:
    """By region: the values that it stores to memory whatever happens to the updates."""
    taken = {(symbol(each.region), each.place) for each in alive}
    found: dict[str, set[ir.Value]] = {}
    for _, region in calls:
        name = symbol(region)
        stores = (op.operands for op in body(region) if op.name == STORE)
        found[name] = {value for value, memory in stores if (name, ir.BlockArgument(memory).arg_number) not in taken}
    return found


def _needed(
    cones: dict[Update, Cone], stored: dict[str, set[ir.Value]], calls: RegionCalls
) -> tuple[set[ir.Operation], set[Update]]:
    """The ops of regions that must run before the updates do, and the updates whose new values the host then needs."""
    by_name = {each.known_as: each for each in cones}
    wanted = {name: set(values) for name, values in stored.items()}
    for each, cone in cones.items():
        wanted[symbol(each.region)] |= set(cone.inputs)
    called = {call for call, _ in calls}
    kept = {each for each in cones if any(_is_needed(use.owner.operation, each, called) for use in each.known_as.uses)}
    computed: set[ir.Operation] = set()
    for call, region in reversed(calls):
        name = symbol(region)
        values = wanted[name] - set(region.body.blocks[0].arguments)
        values |= {each.value for each in kept if each.region == region}
        ops = ancestors(value.owner.operation for value in values if not isinstance(value.owner, ir.Block))
        computed |= ops
        used = {value for op in ops for value in op.operands} | stored[name]
        for value in used:
            if isinstance(value.owner, ir.Block):
                known_as = call.operands[ir.BlockArgument(value).arg_number]
                kept |= {by_name[known_as]} if known_as in by_name else set()
    return computed, kept


def _is_needed(user: ir.Operation, update: Update, called: set[ir.Operation]) -> bool:
    return user != update.own and user not in called


def _refusal(update: Update, cone: Cone, is_needed: bool) -> str:
    if not cone.ops:
        return "its new value is not computed element by element"
    count, dtype = len(cone.inputs) + len(cone.updated), require_tensor_info(update.value.type).dtype
    if count > MAX_INPUTS:
        return f"its new value depends on {count} tensors, more than the {MAX_INPUTS} known to be read in one loop"
    for each in cone.inputs:
        shares = isinstance(each.owner, ir.Block) and update.argument in may_share(passed(update, each))
        if shares and not is_own(update, each):
            return "its old value is read through a view"
        if is_own(update, each) and dtype.startswith(("int", "uint")):
            return f"IREE can't compile a region that reads and writes one memory of type {dtype}"
    if count > MAX_INPUTS_TWICE and is_needed:
        return "its new value is needed elsewhere too, and a copy is cheaper than computing it twice"
    return ""


def _stages(cones: dict[Update, Cone]) -> list[dict[Update, Cone]]:
    """Sorts updates: after those whose new value they read, before those whose old value they read."""
    by_argument = {each.argument: each for each in cones}
    before = {each: set(cone.updated.values()) for each, cone in cones.items()}
    for each, cone in cones.items():
        outside = (passed(each, value) for value in cone.inputs if isinstance(value.owner, ir.Block))
        for argument in {argument for value in outside for argument in may_share(value)} - {each.argument}:
            if argument in by_argument:
                before[by_argument[argument]].add(each)
    stages: list[dict[Update, Cone]] = []
    done: set[Update] = set()
    while ready := {each: cone for each, cone in cones.items() if each not in done and before[each] <= done}:
        stages.append(ready)
        done |= ready.keys()
    return stages


def _owner(update: Update) -> ir.Operation | None:
    return None if isinstance(update.value.owner, ir.Block) else update.value.owner.operation
