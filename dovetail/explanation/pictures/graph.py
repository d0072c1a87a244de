"""Where each node of the joint graph stands: the forward runs down, the backward up beside it, the cut between them.

A node stands on the last level that its users leave it, and levels are rows; one of many nodes is about square instead.
Lengths are in CSS pixels, x to the right and y down.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from statistics import fmean

from dovetail.dialects.by_key import by_key
from dovetail.explanation.picture_records import Node

COLUMNS = 3
"""How many nodes a row holds, unless a level has many more."""
WIDTH, HEIGHT = 166, 36
_STEP, _ROW = WIDTH + 14, HEIGHT + 22
_FORWARD = ("input", "forward", "result")


@dataclass(frozen=True)
class Box:
    """A node, its number, its left upper corner, and the edges that it takes part in."""

    node: Node
    number: int
    x: float
    y: float
    edges: tuple[int, ...]


@dataclass(frozen=True)
class Edge:
    """`path` is SVG's; `crosses` the border between forward and backward."""

    path: str
    crosses: bool


@dataclass(frozen=True)
class Drawing:
    """All boxes and edges, and the size that they need."""

    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    width: float
    height: float


def draw(nodes: Sequence[Node]) -> Drawing:
    """Places `nodes`, of which each comes after its sources; inputs that nothing computes with are left out."""
    used = {source for node in nodes if node.role != "saved" for source in node.sources}
    shown = [number for number, node in enumerate(nodes) if node.role != "input" or number in used]
    saved = [number for number in shown if nodes[number].role == "saved"]
    forward = _rows(nodes, [number for number in shown if nodes[number].role in _FORWARD])
    backward = _rows(nodes, [number for number in shown if number not in saved and nodes[number].role not in _FORWARD])
    left = _columns(forward) * _STEP
    positions = _placed(forward, 0)
    positions |= _placed(backward[::-1], left + _STEP * bool(saved))
    positions |= _border(nodes, saved, positions, left)
    pairs = [(source, number) for number in shown for source in nodes[number].sources if source in positions]
    edges = by_key((number, edge) for edge, pair in enumerate(pairs) for number in pair)
    return Drawing(
        tuple(Box(nodes[number], number, *positions[number], tuple(edges.get(number, ()))) for number in shown),
        tuple(_edge(nodes, pair, positions) for pair in pairs),
        max((x for x, _ in positions.values()), default=0) + WIDTH,
        max((y for _, y in positions.values()), default=0) + HEIGHT,
    )


def _rows(nodes: Sequence[Node], numbers: list[int]) -> list[list[int]]:
    """`numbers` in rows, each after its sources, and as far to the right in its level as these in theirs."""
    levels = by_key((level, number) for number, level in _levels(nodes, numbers).items())
    columns = max(COLUMNS, isqrt(max(map(len, levels.values()), default=0)))
    rows: list[list[int]] = []
    share: dict[int, float] = {}
    for level in sorted(levels):
        ordered = sorted(levels[level], key=lambda number: (_mean(share, nodes[number].sources, 0.5), number))
        rows += [ordered[first : first + columns] for first in range(0, len(ordered), columns)]
        share |= {number: (position + 0.5) / len(ordered) for position, number in enumerate(ordered)}
    return rows


def _levels(nodes: Sequence[Node], numbers: list[int]) -> dict[int, int]:
    levels: dict[int, int] = {}
    users: dict[int, list[int]] = defaultdict(list)
    for number in numbers:
        known = [source for source in nodes[number].sources if source in levels]
        levels[number] = 1 + max((levels[source] for source in known), default=-1)
        for source in known:
            users[source].append(number)
    for number in reversed(numbers):
        levels[number] = min((levels[user] for user in users[number]), default=levels[number] + 1) - 1
    return levels


def _mean(positions: dict[int, float], numbers: Sequence[int], default: float) -> float:
    known = [positions[number] for number in numbers if number in positions]
    return fmean(known) if known else default


def _columns(rows: list[list[int]]) -> int:
    return max((len(row) for row in rows), default=0)


def _placed(rows: list[list[int]], left: float) -> dict[int, tuple[float, float]]:
    columns = _columns(rows)
    return {
        number: (left + (position + (columns - len(row)) / 2) * _STEP, index * _ROW)
        for index, row in enumerate(rows)
        for position, number in enumerate(row)
    }


def _border(
    nodes: Sequence[Node], saved: list[int], positions: dict[int, tuple[float, float]], left: float
) -> dict[int, tuple[float, float]]:
    """Each saved value beside what computes it, else beside its users; none on top of another."""
    heights = {number: y for number, (_, y) in positions.items()}
    users = {each: [number for number, node in enumerate(nodes) if each in node.sources] for each in saved}
    wanted = {each: _mean(heights, nodes[each].sources, _mean(heights, users[each], 0.0)) for each in saved}
    found: dict[int, tuple[float, float]] = {}
    free = 0.0
    for number in sorted(saved, key=lambda each: (wanted[each], each)):
        y = max(free, wanted[number])
        found[number], free = (left, y), y + HEIGHT + 6
    return found


def _edge(nodes: Sequence[Node], pair: tuple[int, int], positions: dict[int, tuple[float, float]]) -> Edge:
    """A curve that leaves and enters boxes by their sides across the border, else by their upper and lower edges."""
    (x, y), (to_x, to_y) = (positions[number] for number in pair)
    if "saved" in (nodes[number].role for number in pair):
        x, y, to_y = x + WIDTH, y + HEIGHT / 2, to_y + HEIGHT / 2
        bend = x + (to_x - x) / 2
        return Edge(f"M{x:g} {y:g}C{bend:g} {y:g} {bend:g} {to_y:g} {to_x:g} {to_y:g}", True)
    x, to_x = x + WIDTH / 2, to_x + WIDTH / 2
    y, to_y = (y + HEIGHT, to_y) if to_y > y else (y, to_y + HEIGHT)
    bend = y + (to_y - y) / 2
    return Edge(f"M{x:g} {y:g}C{x:g} {bend:g} {to_x:g} {bend:g} {to_x:g} {to_y:g}", False)
