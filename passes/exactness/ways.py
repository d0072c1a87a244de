"""By which ways a decision comes from the steps before it."""

from collections.abc import Callable
from heapq import heappop, heappush

from dovetail.dialects.torch_facts.ops import aten_name
from dovetail.passes.exactness.value_flow import Step, ValueFlow

Way = tuple[int, int]
"""Where a way branched off last: a step, and the number of its operand."""


def ways(flow: ValueFlow, decision: int, is_once: Callable[[int], bool]) -> dict[int, set[Way]]:
    """By step that varies: the ways on which `decision` comes from it; two of them compare it with itself.

    Ways branch where a step has several operands, a product apart: of `x * sigmoid(x)` nothing is equal to `x`. They
    join at what `is_once`: whatever comes before it, comes from one computation. Steps are asked after all that use
    them.
    """
    found: dict[int, set[Way]] = {}
    pending: list[int] = []

    def reach(index: int, by: set[Way]) -> None:
        if index not in found:
            found[index] = set()
            heappush(pending, -index)
        found[index] |= by

    for place, each in enumerate(flow.steps[decision].decided_by):
        if flow.steps[each].varies:
            reach(each, {(decision, place)})
    while pending:
        index = -heappop(pending)
        step, by = flow.steps[index], found[index]
        if len(by) > 1 and is_once(index):
            by = {(index, 0)}
        varying = [each for each in flow.alike(step) if flow.steps[each].varies]
        branches = len(varying) > 1 and len(by) == 1 and not _is_product(step)
        for place, each in enumerate(varying):
            reach(each, {(index, place)} if branches else by)
    return found


def _is_product(step: Step) -> bool:
    return step.op is not None and aten_name(step.op) == "aten.mul.Tensor"
