"""Which updates are made in place, and in what order: one that loses no value that is still to be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.building.cloning import ancestors
from dovetail.dialects.memory.roots import may_show_old
from dovetail.dialects.reading import body, producer, symbol, users
from dovetail.dialects.sizes.symbols import known_sizes
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.names import STORE
from dovetail.dialects.torch_facts.types import require_shaped_info
from dovetail.passes.in_place.candidates import Update
from dovetail.passes.in_place.cones import Cone, Cones, is_large, is_own, passed
from dovetail.passes.in_place.stages import grouped, stages_of

MAX_READ = 16
"""Tensors that one update may read. IREE made one dispatch of 19, two of 31 (docs/decisions/0012)."""

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

    def _first_of(self, region: func.FuncOp, kept: set[Update]) -> set[ir.Operation]:
        """What computes what `region` stores anyway, what cones start from, and the new values of those `kept`."""
        starts = (value for update, cone in self.cones.items() if update.region == region for value in cone.starts)
        values = {*self.stored[symbol(region)], *starts, *(each.value for each in kept if each.region == region)}
        return ancestors(op for value in values if (op := producer(value)))

    @cached_property
    def stages(self) -> list[dict[Update, Cone]]:
        """The updates in an order to run in, group by group, without those that wait for each other."""
        if not self.cones:
            return []
        device, readers = device_type(self.calls[0][1].operation.parent), _readers(self.cones)
        read = {update: set(cone.updated.values()) for update, cone in self.cones.items()}
        before = {update: read[update] | readers[update] for update in self.cones}
        joined = {
            update: {other for other in read[update] - readers[update] if _is_exact(update, other)}
            for update in self.cones
        }
        return [
            {update: self.cones[update] for update in stage}
            for group in grouped(before, device)
            for stage in stages_of({update: before[update] for update in group}, joined)
        ]

    @cached_property
    def refused(self) -> dict[Update, str]:
        """What can't be made in place after all, with the reason: each that is so by itself, else one that waits."""
        unfit = self._apart() or self._waiting()
        if unfit:
            return dict.fromkeys(unfit, "it is computed apart")
        reasons = {
            update: _refusal(update, cone, update in self.kept or producer(update.value) in self.computed)
            for update, cone in self.cones.items()
        }
        found = {update: reason for update, reason in reasons.items() if reason}
        staged = {update for stage in self.stages for update in stage}
        stuck = [update for update in self.updates if update not in staged]
        return found or dict.fromkeys(stuck[:1], "its old value is still needed when its new one is")

    def _apart(self) -> list[Update]:
        """The results that the loop of updates can't make: they are needed before, or read more than new values."""
        arguments = {update.argument for update in self.updates}
        found = []
        for result, cone in self._results:
            read = {passed(result.call, value) for value in cone.starts if not producer(value)}
            reads_old = any(arguments & may_show_old(value) for value in read)
            is_needed = result in self.kept or producer(result.value) in self.computed
            is_large = len(cone.starts) + len(cone.updated) > MAX_READ
            if reads_old or is_needed or is_large or any(map(producer, cone.starts)) or not cone.updated:
                found.append(result)
        return found

    def _waiting(self) -> list[Update]:
        """The results that are in no stage with the updates whose new values they read."""
        stage_of = {update: number for number, stage in enumerate(self.stages) for update in stage}
        read = [(result, each) for result, cone in self._results for each in cone.updated.values()]
        apart = (one for one, each in read if each.write is None or stage_of.get(each) != stage_of.get(one, -1))
        return list(dict.fromkeys(apart))

    @property
    def _results(self) -> list[tuple[Update, Cone]]:
        return [(update, cone) for update, cone in self.cones.items() if update.write is None]


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


def _readers(cones: Mapping[Update, Cone]) -> dict[Update, set[Update]]:
    """By update, those that read its old value."""
    by_argument = {update.argument: update for update in cones}
    readers: dict[Update, set[Update]] = {update: set() for update in cones}
    for update, cone in cones.items():
        outside = (passed(update.call, value) for value in cone.starts if not producer(value))
        for argument in {argument for value in outside for argument in may_show_old(value)} - {update.argument}:
            if argument in by_argument:
                readers[by_argument[argument]].add(update)
    return readers


def _is_exact(update: Update, other: Update) -> bool:
    """Whether one loop can make both, where `update` reads the new value of `other`: half precision is not rounded."""
    sizes = known_sizes(other.value)
    is_rounded = require_shaped_info(other.value.type).dtype not in ("float32", "float64")
    return known_sizes(update.value) == sizes and is_large(sizes) and not is_rounded
