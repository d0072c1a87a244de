"""Memory over time as a chart: what each host function holds after each op, on one scale, side by side.

Lengths are in CSS pixels, x to the right and y down.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dovetail.explanation.picture_records import Memory

WIDTH, HEIGHT = 1000, 200
LEFT = 80
"""What stands before the first panel: the labels of the scale."""
_GAP = 12


@dataclass(frozen=True)
class Panel:
    """One function: its outline as SVG's path, where it begins and how wide it is, and the point of its peak."""

    memory: Memory
    path: str
    x: float
    width: float
    peak_x: float
    peak_y: float


@dataclass(frozen=True)
class Chart:
    """All panels, and the marks of their scale: (height, bytes)."""

    panels: tuple[Panel, ...]
    marks: tuple[tuple[float, int], ...]


def chart(memories: Sequence[Memory]) -> Chart:
    """Panels as wide as their functions have ops; the scale ends with the highest peak."""
    highest = max((memory.peak.live for memory in memories if memory.peak), default=0) or 1
    wide = (WIDTH - LEFT - _GAP * (len(memories) - 1)) / sum(memory.ops for memory in memories)
    panels, x = [], float(LEFT)
    for memory in memories:
        panels.append(_panel(memory, x, wide, highest))
        x += memory.ops * wide + _GAP
    return Chart(tuple(panels), tuple((HEIGHT * (1 - part / 4), highest * part // 4) for part in range(5)))


def _panel(memory: Memory, x: float, wide: float, highest: int) -> Panel:
    path, peak = f"M{x:g} {HEIGHT}", (x, float(HEIGHT))
    for step in memory.steps:
        step_x = x + int(step.at.rpartition(":")[2]) * wide
        step_y = HEIGHT * (1 - step.live / highest)
        path += f"H{step_x:.4g}V{step_y:.4g}"
        if step == memory.peak:
            peak = (step_x, step_y)
    width = memory.ops * wide
    return Panel(memory, f"{path}H{x + width:.4g}V{HEIGHT}Z", x, width, *peak)
