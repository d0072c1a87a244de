"""Decisions that two functions take, the second one by bits of its own."""

from collections.abc import Container

from dovetail.passes.exactness.value_flow import ValueFlow


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
