"""What the pictures of an explanation show, as values: dataflow, memory over time, and the module at each stage.

All of it is read from the IR. Source lines are "file.py:12", "" where the IR has none.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """An op, or a value at the edge, of what forward and backward compute; views lie between the nodes.

    `role` is "input", "forward", "result", "saved", "tangent", "recomputed", "backward" or "gradient"; a gradient has
    the name of its input, a tangent that of its result. `sources` are the numbers of the nodes that it comes from, all
    of them earlier ones. `type` is that of the first result: "float32[4, 2]", "" without one. `placement` is the region
    of an op, or "library call"; `at` is its function and its number there, as "forward:3". Values have neither.
    """

    name: str
    role: str
    sources: tuple[int, ...]
    type: str
    line: str
    placement: str = ""
    at: str = ""


@dataclass(frozen=True)
class MemoryStep:
    """An op after which the program holds another number of bytes than before, `live`; `at` as in `Node`."""

    at: str
    name: str
    line: str
    live: int


@dataclass(frozen=True)
class Memory:
    """What the program itself holds of memory while the host function `function` runs its `ops` ops, in bytes."""

    function: str
    ops: int
    steps: tuple[MemoryStep, ...]

    @property
    def peak(self) -> MemoryStep | None:
        """The first step of those that hold the most, None if nothing is ever held."""
        return max(self.steps, key=lambda step: step.live, default=None)


@dataclass(frozen=True)
class Line:
    """A line of a module's text, and the user's line that its op comes from: place and Python, both "" if unknown.

    `at` is its op, as in `Node`, or the function's name; "" if it has neither.
    """

    text: str
    source: str
    python: str
    at: str


@dataclass(frozen=True)
class Stage:
    """A module as the pass `name` left it; "input" is what the first pass is given."""

    name: str
    lines: tuple[Line, ...]
