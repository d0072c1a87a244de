"""Compiles many cases as one program, runs it on each class of values and compares with ATen."""

from collections import defaultdict

import torch
from torch_mlir import ir

from dovetail.backends.base_target import Target
from dovetail.backends.compiling.outcomes import CompileFailure
from dovetail.backends.target import CpuTarget
from dovetail.dialects.torch_facts.ops import Kind, kind_of_name
from dovetail.passes.placement.place_ops import PlaceOpsPass
from dovetail.runtime.launches.iree_executable import prepare
from dovetail.tools.sweep.cases import Case
from dovetail.tools.sweep.imported import imported, keep_compiled
from dovetail.tools.sweep.judge import Outcome, compare
from dovetail.tools.sweep.launch import launched, lower
from dovetail.tools.sweep.sample_calls import Slot
from dovetail.tools.sweep.values import CLASSES, tensor

_SIZED = {
    "scalar": (),
    "row": (16,),
    "column": (16, 1),
    "tall": (32, 16),
    "image": (1, 16, 4, 4),
    "windows": (16, 4, 4),
}


def _fill(slot: Slot, case: Case, which: str) -> torch.Tensor:
    dtype = slot.dtype or case.dtype
    if slot.name in _SIZED:
        size = _SIZED[slot.name]
        count = torch.Size(size).numel()
        return tensor("y", "full", dtype, which).reshape(-1).repeat(2)[:count].reshape(size).clone()
    return tensor(slot.name, case.shape, dtype, which)


def _slots(case: Case) -> list[tuple[Slot, Case]]:
    flat: list = []
    for argument in case.arguments:
        flat.extend(argument if isinstance(argument, list) else [argument])
    return [(each, case) for each in flat if isinstance(each, Slot)]


def _evaluate(case: Case, tensors: dict[Slot, torch.Tensor]) -> list[torch.Tensor]:
    def filled(argument):
        if isinstance(argument, list):
            return [filled(each) for each in argument]
        if argument == "dtype":
            return case.dtype
        return tensors[argument] if isinstance(argument, Slot) else argument

    result = case.overload(*map(filled, case.arguments), **dict(case.keywords))
    results = list(result) if isinstance(result, list | tuple) else [result]
    if kind_of_name(case.name) is Kind.VIEW:  # a view alone is never in a region
        results = [torch.ops.aten.clone.default(each) for each in results]
    return results


def runs_in_eager(case: Case) -> bool:
    """Whether ATen accepts the call at all, and its shape rule, by which tracing goes, too."""
    tensors = {slot: _fill(slot, case, "ordinary") for slot, _ in _slots(case)}
    try:
        _evaluate(case, tensors)
        _evaluate(case, {slot: value.to("meta") for slot, value in tensors.items()})
    except (RuntimeError, IndexError, ValueError, NotImplementedError):
        return False
    return True


def check(cases: list[Case], decompose: bool, target: Target | None = None) -> list[Outcome]:
    """The outcome of each case; one compilation unless something does not compile, then smaller ones."""
    target = CpuTarget() if target is None else target
    module, positions, counts, flat = _module(cases, decompose)
    with module.context, ir.Location.unknown():
        PlaceOpsPass().run(module)
        refusals, layout = keep_compiled(module, counts)
        lower(module)
    outcomes = [Outcome(case, refused=each) for case, each in zip(cases, refusals, strict=True)]
    if all(refusals):
        return outcomes
    region = launched(module, target)
    if isinstance(region, CompileFailure) and len(cases) > 1:
        return [outcome for part in _parts(cases) for outcome in check(part, decompose, target)]
    if isinstance(region, CompileFailure):
        return [Outcome(cases[0], failed=region.reason)]
    for which in CLASSES:
        tensors = [_fill(slot, case, which) for slot, case in flat]
        results = [torch.empty(info.shape, dtype=getattr(torch, info.dtype)) for info in layout]
        region.run(*map(prepare, tensors), *results)
        got = iter(results)
        for outcome, position in zip(outcomes, positions, strict=True):
            if outcome.refused:
                continue
            operands = [tensors[index] for index in position.values()]
            flushes = which == "subnormal" and not region.keeps_subnormals
            expected = _expected(outcome.case, {slot: tensors[index] for slot, index in position.items()}, flushes)
            for each in expected:
                compare(outcome, which, next(got), each, operands)
    return outcomes


def _expected(case: Case, tensors: dict[Slot, torch.Tensor], flushes: bool) -> list[list[torch.Tensor]]:
    """For each result what ATen computes, and if what runs the region `flushes`, with subnormals as 0, too."""
    results = [_evaluate(case, tensors)]
    if flushes:
        torch.set_flush_denormal(True)
        results.append(_evaluate(case, tensors))
        torch.set_flush_denormal(False)
    return [list(each) for each in zip(*results, strict=True)]


def _parts(cases: list[Case]) -> list[list[Case]]:
    """Smaller batches: by element type, then by overload, then halves."""
    for key in (lambda case: case.dtype, lambda case: case.name):
        groups = defaultdict(list)
        for case in cases:
            groups[key(case)].append(case)
        if len(groups) > 1:
            return list(groups.values())
    return [cases[: len(cases) // 2], cases[len(cases) // 2 :]]


def _module(cases: list[Case], decompose: bool):
    indices: dict[tuple, int] = {}
    flat: list[tuple[Slot, Case]] = []
    positions: list[dict[Slot, int]] = []
    counts: list[int] = []
    for case in cases:
        position = {}
        for slot, _ in _slots(case):
            key = (slot, case.dtype if slot.dtype is None else slot.dtype, case.shape)
            if key not in indices:
                indices[key] = len(flat)
                flat.append((slot, case))
            position[slot] = indices[key]
        positions.append(position)

    def function(*tensors):
        counts.clear()  # tracing may call more than once
        results = []
        for case, position in zip(cases, positions, strict=True):
            computed = _evaluate(case, {slot: tensors[index] for slot, index in position.items()})
            counts.append(len(computed))
            results += computed
        return results

    module = imported(function, [_fill(slot, case, "ordinary") for slot, case in flat], decompose)
    return module, positions, counts, flat
