"""Spares copies of a plan: a transient that is only copied to an argument in the end is that argument at once.

And what is copied to a transient that nothing touches afterwards is not copied at all: of open sizes, IREE copies once
more what it has copied to a result.
"""

from typing import Any

Steps = list[dict[str, Any]]


def forward_copies(plan: dict[str, Any]) -> dict[str, Any]:
    """`plan` without such copies. Arguments that are written share no memory with others."""
    for is_spared, without in ((_is_unread, _without), (_can_forward, _forwarded)):
        while copies := [step for step in plan["steps"] if step["op"] == "copy" and is_spared(plan, step)]:
            plan = without(plan, copies[-1])
    return plan


def _is_unread(plan: dict[str, Any], copy: dict[str, Any]) -> bool:
    """Whether the copy goes to a transient that nothing touches afterwards."""
    target = copy["target"][0]
    return _is_transient(plan, target) and target not in _touched(plan["steps"][plan["steps"].index(copy) + 1 :])


def _without(plan: dict[str, Any], copy: dict[str, Any]) -> dict[str, Any]:
    """`plan` without the copy, and without its target if nothing else touches that."""
    left = plan | {"steps": [step for step in plan["steps"] if step is not copy]}
    target = copy["target"][0]
    return left if target in _touched(left["steps"]) else _renamed(left, target, target)


def _is_transient(plan: dict[str, Any], buffer: int) -> bool:
    return 0 <= buffer - plan["arguments"] < len(plan["transients"])


def _can_forward(plan: dict[str, Any], copy: dict[str, Any]) -> bool:
    """Whether the copy takes all of a transient, which nobody touches afterwards, and nothing else the argument."""
    (source, start, size), (target, _, _) = copy["source"], copy["target"]
    if not _is_transient(plan, source) or target >= plan["arguments"]:
        return False
    position = plan["steps"].index(copy)
    whole = plan["transients"][source - plan["arguments"]]
    is_whole = start == 0 and size == whole and copy["target"][1] == 0
    others = _touched([step for step in plan["steps"] if step is not copy])
    is_over = source not in _touched(plan["steps"][position + 1 :])
    return is_whole and isinstance(size, int) and target not in others and is_over


def _forwarded(plan: dict[str, Any], copy: dict[str, Any]) -> dict[str, Any]:
    left = plan | {"steps": [step for step in plan["steps"] if step is not copy]}
    return _renamed(left, copy["source"][0], copy["target"][0])


def _renamed(plan: dict[str, Any], transient: int, buffer: int) -> dict[str, Any]:
    """`plan` without a transient, for which `buffer` stands wherever it is touched."""

    def moved(position: list[Any]) -> list[Any]:
        return [buffer if position[0] == transient else position[0] - (position[0] > transient), *position[1:]]

    steps: Steps = []
    for step in plan["steps"]:
        ranges = {key: moved(step[key]) for key in ("source", "target") if key in step}
        if "bindings" in step:
            ranges["bindings"] = [moved(binding) for binding in step["bindings"]]
        steps.append(step | ranges)
    left = [size for number, size in enumerate(plan["transients"], plan["arguments"]) if number != transient]
    return plan | {"transients": left, "steps": steps}


def _touched(steps: Steps) -> set[int]:
    """The buffers that `steps` bind, fill or copy."""
    return {each[0] for step in steps for each in _ranges(step)}


def _ranges(step: dict[str, Any]) -> list[list[Any]]:
    return [*step.get("bindings", ()), *(step[key] for key in ("source", "target") if key in step)]
