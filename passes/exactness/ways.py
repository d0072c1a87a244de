"""By which ways a decision comes from the steps before it, and which decisions a second function takes again."""

from collections.abc import Callable, Container
from heapq import heappop, heappush

from dovetail.dialects.torch_facts.ops import row
from dovetail.passes.exactness.value_flow import ValueFlow

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

    for position, source in enumerate(flow.steps[decision].decided_by):
        if flow.steps[source].varies:
            reach(source, {(decision, position)})
    while pending:
        index = -heappop(pending)
        step, by = flow.steps[index], found[index]
        if len(by) > 1 and is_once(index):
            by = {(index, 0)}
        varying = [other for other in flow.alike(step) if flow.steps[other].varies]
        is_product = step.op is not None and row(step.op).multiplies
        branches = len(varying) > 1 and len(by) == 1 and not is_product
        for position, other in enumerate(varying):
            reach(other, {(index, position)} if branches else by)
    return found


def decided_again(flow: ValueFlow, first: Container[str], second: Container[str]) -> dict[int, int]:
    """The steps of the functions `second` that decide what one of `first` did, by what `second` computes anew.

    A forward that rounds down to 3 and a backward that rounds to 4 are those of two different functions. Of decisions
    that follow from one another, only the first is returned, with a step that it comes from and that gives other bits.
    """
    decided = set[int]()  # by what they compute, once somebody asks
    decisions = [index for index, step in enumerate(flow.steps) if step.host in first and step.decided_by]
    sources: dict[int, int] = {}
    found: dict[int, int] = {}
    for index, step in enumerate(flow.steps):
        if step.host not in second:
            continue
        decisive = [sources[each] for each in step.decided_by if each in sources]
        if decisive and not decided:
            decided.update(map(flow.key, decisions))
        if decisive and flow.key(index) in decided:
            found[index] = decisive[0]
        elif step.differs:
            sources[index] = index
        else:
            sources.update((index, sources[each]) for each in step.comes_from if each in sources)
    return found
