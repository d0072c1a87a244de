"""How updates in place are computed: each from what is still there when it runs, in an order that loses no value."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.calls import symbol
from dovetail.dialects.dovetail import ReadOp
from dovetail.dialects.torch_ops import Kind, aten_name, is_constant, kind
from dovetail.dialects.torch_types import require_tensor_info
from dovetail.passes.in_place_candidates import Update, may_share
from dovetail.passes.rewriting import FROM_PYTHON, ancestors, body

MAX_INPUTS = 16
"""Tensors that one update may read. IREE made one dispatch of 19, two of 31 (docs/decisions/0012)."""

MAX_INPUTS_TWICE = 2
"""Tensors that an update may read if something else needs the new value too: with more, a copy moves fewer bytes."""

_FILLS = ("full", "full_like", "ones", "ones_like", "zeros", "zeros_like", "new_full", "new_ones", "new_zeros")


@dataclass(frozen=True)
class Cone:
    """What computes one update: ops of its region, in order, and the values they start from, or that are updates."""

    ops: tuple[ir.Operation, ...]
    inputs: tuple[ir.Value, ...]
    updated: dict[ir.Value, Update]


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
        stored = _stored(alive, calls)
        cones = {each: _cone(each, alive, stored[symbol(each.region)]) for each in alive}
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


def passed(update: Update, inside: ir.Value) -> ir.Value:
    """What the caller passes for an argument of the update's region."""
    return update.call.operands[ir.BlockArgument(inside).arg_number]


def is_own(update: Update, inside: ir.Value) -> bool:
    """Whether a value in the region is the old value of the updated argument, element for element."""
    if not isinstance(inside.owner, ir.Block):
        return False
    owner = passed(update, inside).owner
    is_read = not isinstance(owner, ir.Block) and isinstance(owner.operation.opview, ReadOp)
    return is_read and owner.operation.operands[0] == update.argument


def is_elementwise(op: ir.Operation, shape: tuple[int, ...]) -> bool:
    """Whether `op` computes each element of a tensor of `shape` from elements at the same index, and single numbers.

    Other ops need loops of their own, and might keep what they compute in between in the destination's memory.
    """
    if len(op.results) != 1 or not (kind(op) is Kind.POINTWISE or _is_fill(op)):
        return False
    computed = require_tensor_info(op.results[0].type).shape
    return computed == shape or (computed == () and prod(shape) > 1)


def _is_fill(op: ir.Operation) -> bool:
    """Whether `op` makes a tensor of one number."""
    if op.name in FROM_PYTHON:
        return require_tensor_info(op.results[0].type).shape == ()
    name = aten_name(op)
    return name is not None and name.split(".")[1] in _FILLS


def _stored(alive: list[Update], calls: RegionCalls) -> dict[str, set[ir.Value]]:
    """By region: the values that it stores to memory whatever happens to the updates."""
    taken = {(symbol(each.region), each.place) for each in alive}
    found: dict[str, set[ir.Value]] = {}
    for _, region in calls:
        stores = (op for op in body(region) if op.name == "torch.overwrite.tensor.contents")
        found[symbol(region)] = {
            op.operands[0]
            for op in stores
            if (symbol(region), ir.BlockArgument(op.operands[1]).arg_number) not in taken
        }
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
        values = wanted[symbol(region)] - set(region.body.blocks[0].arguments)
        values |= {each.value for each in kept if each.region == region}
        ops = ancestors(value.owner.operation for value in values if not isinstance(value.owner, ir.Block))
        computed |= ops
        used = {value for op in ops for value in op.operands} | stored[symbol(region)]
        for value in used:
            if isinstance(value.owner, ir.Block):
                known_as = call.operands[ir.BlockArgument(value).arg_number]
                kept |= {by_name[known_as]} if known_as in by_name else set()
    return computed, kept


def _is_needed(user: ir.Operation, update: Update, called: set[ir.Operation]) -> bool:
    return user != update.own and user not in called


def _cone(update: Update, alive: list[Update], stored: set[ir.Value]) -> Cone:
    shape = require_tensor_info(update.value.type).shape
    others = {each.value: each for each in alive if each is not update}
    by_name = {each.known_as: each for each in alive}
    ops: dict[ir.Operation, None] = {}
    inputs: dict[ir.Value, None] = {}
    updated: dict[ir.Value, Update] = {}

    def visit(value: ir.Value) -> None:
        owner = value.owner
        if value in others:
            updated[value] = others[value]
        elif isinstance(owner, ir.Block) and passed(update, value) in by_name:
            updated[value] = by_name[passed(update, value)]
        elif isinstance(owner, ir.Block):
            inputs[value] = None
        elif is_constant(owner.operation) or owner.operation in ops:
            return  # a constant is cloned with its user
        elif (value in stored and value != update.value) or not is_elementwise(owner.operation, shape):
            inputs[value] = None
        else:
            for each in owner.operation.operands:
                visit(each)
            ops[owner.operation] = None

    visit(update.value)
    return Cone(tuple(ops), tuple(inputs), updated)


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
