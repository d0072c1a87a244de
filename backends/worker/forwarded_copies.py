"""Spares copies of a plan: a transient that is only copied to an argument in the end is that argument at once."""

from typing import Any

Steps = list[dict[str, Any]]


def forward_copies(plan: dict[str, Any]) -> dict[str, Any]:
    """`plan` without such copies. Arguments that are written share no memory with others."""
    for copy in [step for step in plan["steps"] if step["op"] == "copy"]:
        if _can_forward(plan, copy):
            plan = _forwarded(plan, copy)
    return plan


def _can_forward(plan: dict[str, Any], copy: dict[str, Any]) -> bool:
    """Whether the copy takes all of a transient, which nobody touches afterwards, and nothing else the argument."""
    (source, start, size), (target, _, _) = copy["source"], copy["target"]
    transient = source - plan["arguments"]
    if not 0 <= transient < len(plan["transients"]) or target >= plan["arguments"]:
        return False
    position = plan["steps"].index(copy)
    is_whole = start == 0 and size == plan["transients"][transient] and copy["target"][1] == 0
    others = [each[0] for step in plan["steps"] if step is not copy for each in _ranges(step)]
    after = [each[0] for step in plan["steps"][position + 1 :] for each in _ranges(step)]
    return is_whole and isinstance(size, int) and target not in others and source not in after


def _forwarded(plan: dict[str, Any], copy: dict[str, Any]) -> dict[str, Any]:
    source, target = copy["source"][0], copy["target"][0]

    def moved(position: list[Any]) -> list[Any]:
        return [target if position[0] == source else position[0] - (position[0] > source), *position[1:]]

    steps: Steps = []
    for step in plan["steps"]:
        ranges = {key: moved(step[key]) for key in ("source", "target") if key in step}
        if "bindings" in step:
            ranges["bindings"] = [moved(binding) for binding in step["bindings"]]
        if step is not copy:
            steps.append(step | ranges)
    transient = source - plan["arguments"]
    left = [size for position, size in enumerate(plan["transients"]) if position != transient]
    return plan | {"transients": left, "steps": steps}


def _ranges(step: dict[str, Any]) -> list[list[Any]]:
    return [*step.get("bindings", ()), *(step[key] for key in ("source", "target") if key in step)]
