"""The page: every figure and table of an explanation, in one HTML file that needs no network and no script."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import jinja2
from rich.filesize import decimal

from dovetail.explanation.picture_records import Line, Node
from dovetail.explanation.pictures import memory
from dovetail.explanation.pictures.graph import HEIGHT, WIDTH, Drawing, draw
from dovetail.explanation.pictures.stages import Change, changes
from dovetail.explanation.records import Eager, Op, Program, Region
from dovetail.explanation.text import text
from dovetail.options import Options

ROLES = {
    "input": "input",
    "forward": "forward",
    "saved": "saved for the backward",
    "recomputed": "recomputed by the backward",
    "backward": "backward",
    "result": "result",
    "tangent": "tangent, a result's gradient",
    "gradient": "gradient",
}
"""What the legend says of each role of a node."""


@dataclass(frozen=True)
class Picture:
    """One graph's part of the page. `ends` and `program` as in the explanation."""

    program: Program
    drawing: Drawing
    chart: memory.Chart
    changes: tuple[Change, ...]

    @classmethod
    def of(cls, program: Program) -> "Picture":
        return cls(program, draw(program.nodes), memory.chart(program.memory), tuple(changes(program.stages)))

    @property
    def counts(self) -> Counter[str]:
        """How many nodes of each role are drawn."""
        return Counter(box.node.role for box in self.drawing.boxes)

    @property
    def module(self) -> tuple[Line, ...]:
        """The lines of the final module."""
        return self.program.stages[-1].lines

    @property
    def library_calls(self) -> list[tuple[Op, int]]:
        """Each library call once, with its number."""
        return list(Counter(self.program.library_calls).items())


def page(name: str, graphs: Sequence[Program | Eager], options: Options) -> str:
    """The page's HTML; `name` is the function's, `options` those that it was compiled with."""
    return _ENVIRONMENT.get_template("page.html.jinja").render(
        name=name,
        graphs=[Picture.of(graph) if isinstance(graph, Program) else graph for graph in graphs],
        options=str(options),
        text=text(tuple(graphs), options),
    )


def _names(region: Region) -> str:
    return ", ".join(f"{name} × {count}" if count > 1 else name for name, count in Counter(region.names).items())


def _title(node: Node) -> str:
    """The first line in a node's box; of the user's names, the end says the most."""
    name = node.name.removeprefix("aten.")
    return _short(name, 20) if node.at else _short(name[::-1], 20)[::-1]


def _label(node: Node) -> str:
    """The second line: what it is, or where it runs, and its shape."""
    label = node.placement.partition("_")[2].replace("_", " ") or node.placement.partition(" ")[0] or node.role
    return _short(f"{label} {node.type[node.type.find('[') :] if node.type else ''}", 24)


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


_ENVIRONMENT = jinja2.Environment(
    loader=jinja2.PackageLoader("dovetail.explanation.pictures", ""),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)
_ENVIRONMENT.filters |= {"size": decimal, "title": _title, "label": _label, "names": _names}
_ENVIRONMENT.tests["eager"] = lambda graph: isinstance(graph, Eager)
_ENVIRONMENT.globals |= {
    "style": files("dovetail.explanation.pictures").joinpath("style.css").read_text(encoding="utf-8"),
    "roles": ROLES,
    "box_width": WIDTH,
    "box_height": HEIGHT,
    "chart_width": memory.WIDTH,
    "chart_height": memory.HEIGHT,
    "chart_left": memory.LEFT,
}
