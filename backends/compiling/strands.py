"""The strands of a region that have no tensor in common: each is compiled as a region, equal ones once.

An optimizer's region updates many tensors, each for itself and in the same way. A launch plan is a list of what runs,
so that the plan of such a region is made of its strands' plans.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.dialects.building.cloning import ancestors
from dovetail.dialects.building.region_builder import RegionBuilder
from dovetail.dialects.building.region_texts import make_main
from dovetail.dialects.by_key import by_key
from dovetail.dialects.context import make_context
from dovetail.dialects.reachable import connected
from dovetail.dialects.reading import arguments, body, copy_attributes, symbol
from dovetail.dialects.statements.regions import is_copy
from dovetail.dialects.torch_facts.ops import aten_name
from dovetail.dialects.torch_facts.types import is_tensor

MANY = 8
"""Results of a region from which on it is looked at: of fewer, reading the text costs more than the strands save."""

_OWN = ("sym_name", "function_type")
"""Attributes that a strand has of its own."""


@dataclass(frozen=True)
class Strand:
    """`text`, a region of its own, and the positions of its `arguments` among the `count` of the whole."""

    text: str
    arguments: tuple[int, ...]
    count: int

    @property
    def key(self) -> str:
        """Equal for strands of equal texts."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def strands(text: str) -> list[Strand]:
    """Those of the region that `text` is; none where it can't be taken apart, is small, or a size of it is open."""
    if text.count("torch.overwrite.tensor.contents") < MANY:
        return []
    with make_context(), ir.Location.unknown():
        try:
            module = ir.Module.parse(text)
        except ir.MLIRError:  # IREE's compiler says why
            return []
        [region] = module.body.operations
        if not all(is_tensor(argument.type) for argument in arguments(region)):
            return []
        groups = _groups(region)
        computing = [ops for ops in groups if any(aten_name(op) is not None and not is_copy(op) for op in ops)]
        if len(computing) < 2:
            return []
        # What only fills and copies memory has no code, and plans with other code don't join.
        computing[0] += [op for ops in groups if ops not in computing for op in ops]
        position = {op: index for index, op in enumerate(body(region))}
        return [_strand(region, group, position) for group in computing]


def _groups(region: func.FuncOp) -> list[list[ir.Operation]]:
    """The ops of each strand, in their order; what is made of constants alone belongs to none."""
    touching: dict[ir.Value, list[ir.Operation]] = {argument: [] for argument in arguments(region)}
    for op in body(region)[:-1]:
        given = [touching[value] for value in op.operands if value in touching]
        for strand in given:
            strand.append(op)
        touching |= {value: [op] for value in op.results if given}
    values = by_key((op, value) for value, ops in touching.items() for op in ops)
    return connected(values, lambda op: (each for value in values[op] for each in touching[value]))


def _strand(region: func.FuncOp, ops: Sequence[ir.Operation], position: Mapping[ir.Operation, int]) -> Strand:
    used = {value for op in ops for value in op.operands}
    taken = {index: argument for index, argument in enumerate(arguments(region)) if argument in used}
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        made = RegionBuilder(symbol(region), list(taken.values()))
    copy_attributes(region, made.function, *(name for name in region.attributes if name not in _OWN))
    made.compute(sorted(ancestors(ops), key=position.__getitem__))
    made.finish()
    make_main(made.function)
    return Strand(str(module), tuple(taken), len(arguments(region)))


def joined(made: Sequence[tuple[Strand, LaunchPlan]]) -> LaunchPlan | None:
    """The plan of a region from those of its strands, which wait for one another nowhere.

    None where they have code of several executables, or numbers that only a call tells.
    """
    plans, arguments = [plan for _, plan in made], made[0][0].count
    if len({plan.code for plan in plans}) > 1 or any(plan.steps["values"] for plan in plans):
        return None
    transients: list[int] = [size for plan in plans for size in plan.steps["transients"]]
    constants: list[str] = [constant for plan in plans for constant in plan.steps["constants"]]
    phases: list[list[list[dict[str, Any]]]] = []
    transient, constant = arguments, arguments + len(transients)
    for strand, plan in made:
        kept = len(plan.steps["transients"]), len(plan.steps["constants"])
        indices = [*strand.arguments, *range(transient, transient + kept[0]), *range(constant, constant + kept[1])]
        transient, constant = transient + kept[0], constant + kept[1]
        phases.append(_phases(plan, indices))
    steps: list[dict[str, Any]] = []
    for together in zip_longest(*phases, fillvalue=[]):
        steps += [{"op": "barrier"}] if steps else []
        steps += [step for phase in together for step in phase]
    whole = {"arguments": arguments, "values": [], "transients": transients, "constants": constants, "steps": steps}
    return LaunchPlan(whole, plans[0].code, all(plan.is_kept for plan in plans))


def _phases(plan: LaunchPlan, indices: Sequence[int]) -> list[list[dict[str, Any]]]:
    """What runs between barriers, its buffers numbered by `indices`."""
    phases = groupby(plan.steps["steps"], lambda step: step["op"] == "barrier")
    return [[_moved(step, indices) for step in phase] for is_barrier, phase in phases if not is_barrier]


def _moved(step: Mapping[str, Any], indices: Sequence[int]) -> dict[str, Any]:
    moved = dict(step)
    for name in ("source", "target"):
        if name in step:
            moved[name] = [indices[step[name][0]], *step[name][1:]]
    if "bindings" in step:
        moved["bindings"] = [[indices[binding[0]], *binding[1:]] for binding in step["bindings"]]
    return moved
