"""Which updates are made in place: those of which no old value is lost that is still to be read."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.building.cloning import ancestors
from dovetail.dialects.memory.roots import may_show_old
from dovetail.dialects.reading import body, producer, symbol, users
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.names import STORE
from dovetail.dialects.torch_facts.types import require_shaped_info
from dovetail.passes.in_place.candidates import Update
from dovetail.passes.in_place.cones import MAX_READ, Cone, Cones, is_own, passed
from dovetail.passes.in_place.order import ordered
from dovetail.passes.in_place.results import apart, waiting

MAX_READ_TWICE = 2
"""Tensors that an update may read if something else needs the new value too: with more, a copy moves fewer bytes."""


@dataclass(frozen=True)
class UpdatePlan:
    """Updates in place by stage, to run one after the other; and the refused ones with the reason.

    The new values of those in `kept` are needed before the updates are made, so they are computed twice.
    """

    stages: list[dict[Update, Cone]]
    refused: dict[Update, str]
    kept: set[Update]

    @cached_property
    def updates(self) -> dict[Update, Cone]:
        """Those of all stages."""
        return {update: cone for stage in self.stages for update, cone in stage.items()}


RegionCalls = Sequence[tuple[ir.Operation, func.FuncOp]]


def plan_updates(updates: Sequence[Update], calls: RegionCalls) -> UpdatePlan:
    """Refuses updates until each of those left has a pointwise cone, and all have an order to run in.

    `calls` are all calls of regions in `@forward`, in order. Updates share a stage with those whose new value they
    read, where one loop can make both.
    """
    refused: dict[Update, str] = {}
    while (attempt := Attempt([update for update in updates if update not in refused], calls)).refused:
        refused |= attempt.refused
    return UpdatePlan(attempt.stages, refused, attempt.kept)


@dataclass(frozen=True)
class Attempt:
    """What follows if just `updates` are made in place. Each refusal changes all of it, so there is a next attempt.

    Each property follows from those above it.
    """

    updates: Sequence[Update]
    calls: RegionCalls

    @cached_property
    def stored(self) -> dict[str, set[ir.Value]]:
        """By region: the values that it stores to memory whatever happens to the updates."""
        taken = {(symbol(update.region), update.position) for update in self.updates}
        found: dict[str, set[ir.Value]] = {}
        for _, region in self.calls:
            name = symbol(region)
            stores = (op.operands for op in body(region) if op.name == STORE)
            kept = {value for value, memory in stores if (name, ir.BlockArgument(memory).arg_number) not in taken}
            found[name] = kept
        return found

    @cached_property
    def cones(self) -> dict[Update, Cone]:
        """What computes each update."""
        cones = Cones(self.updates)
        return {update: cones.cone(update, self.stored[symbol(update.region)]) for update in self.updates}

    @cached_property
    def kept(self) -> set[Update]:
        """The updates whose new values something else needs, before any update is made.

        Later calls come first, since they use what earlier ones compute.
        """
        by_name = {update.known_as: update for update in self.updates}
        called = {call for call, _ in self.calls}
        kept = {update for update in self.updates if set(users(update.known_as)) - called - {update.own}}
        for call, region in reversed(self.calls):
            used = {value for op in self._first_of(region, kept) for value in op.operands} | self.stored[symbol(region)]
            passed_in = (passed(call, value) for value in used if not producer(value))
            kept |= {by_name[value] for value in passed_in if value in by_name}
        return kept

    @cached_property
    def computed(self) -> set[ir.Operation]:
        """The ops of regions that must run before any update is made."""
        return {op for _, region in self.calls for op in self._first_of(region, self.kept)}

    @cached_property
    def needed(self) -> set[Update]:
        """The updates whose new values are there before any update is made."""
        return {each for each in self.updates if each in self.kept or producer(each.value) in self.computed}

    def _first_of(self, region: func.FuncOp, kept: set[Update]) -> set[ir.Operation]:
        """What computes what `region` stores anyway, what cones start from, and the new values of those `kept`."""
        starts = (value for update, cone in self.cones.items() if update.region == region for value in cone.starts)
        values = {*self.stored[symbol(region)], *starts, *(each.value for each in kept if each.region == region)}
        return ancestors(op for value in values if (op := producer(value)))

    @cached_property
    def stages(self) -> list[dict[Update, Cone]]:
        """The updates in an order to run in, group by group, without those that wait for each other."""
        return ordered(self.cones, device_type(self.calls[0][1].operation.parent)) if self.cones else []

    @cached_property
    def refused(self) -> dict[Update, str]:
        """What can't be made in place after all, with the reason: each that is so by itself, else one that waits."""
        unfit = apart(self.cones, self.needed) or waiting(self.cones, self.stages)
        if unfit:
            return dict.fromkeys(unfit, "it is computed apart")
        reasons = {update: _refusal(update, cone, update in self.needed) for update, cone in self.cones.items()}
        found = {update: reason for update, reason in reasons.items() if reason}
        staged = {update for stage in self.stages for update in stage}
        stuck = [update for update in self.updates if update not in staged]
        return found or dict.fromkeys(stuck[:1], "its old value is still needed when its new one is")


def _refusal(update: Update, cone: Cone, is_needed: bool) -> str:
    if not cone.ops:
        return "its new value is not computed element by element"
    count, info = len(cone.starts) + len(cone.updated), require_shaped_info(update.value.type)
    if count > MAX_READ:
        return f"its new value depends on {count} tensors, more than the {MAX_READ} known to be read in one loop"
    for value in cone.starts:
        shares = not producer(value) and update.argument in may_show_old(passed(update.call, value))
        if shares and not is_own(update, value):
            return "its old value is read through a view"
        if is_own(update, value) and info.is_integer:
            return f"IREE can't compile a region that reads and writes one memory of type {info.dtype}"
    if count > MAX_READ_TWICE and is_needed:
        return "its new value is needed elsewhere too, and a copy is cheaper than computing it twice"
    return ""
