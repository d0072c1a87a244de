"""The page of pass times, docs/pass-speed.md."""

import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from math import log

import numpy
from pass_figures import Figures
from pass_graph import BATCH, LENGTH

LIMIT = 1.5
"""CPU seconds that all passes together may take on GPT-2 small, 12 layers."""

_PAGE = """\
# What the passes cost

CPU seconds of the pipeline `compile` on the joint graph of GPT-2 small ({batch} × {length} tokens), and of the same
model with more layers; verification after each pass included, collecting the garbage of what ran before not. Written by
`make bench-passes`.

{depths}

The bound is {limit:g} s at 12 layers, and growth of at most n log n: between {fewest:,} and {most:,} ops that is an
exponent of {bound:.2f}. An exponent is the slope of seconds over ops on logarithmic scales: 1 is linear, 2 quadratic.

## By pass

`ops` are those of the module that the pass gets, at {layers} layers.

{passes}

Python {python}, torch {torch}, torch-mlir {torch_mlir}; the least of {repeats} runs in one process.
"""


def page(results: Sequence[Figures], repeats: int) -> str:
    """The whole page, as Markdown; `results` by number of layers, at least two."""
    first, last = results[0], results[-1]
    return _PAGE.format(
        batch=BATCH,
        length=LENGTH,
        depths=_depths(results),
        limit=LIMIT,
        fewest=first.joint_ops,
        most=last.joint_ops,
        bound=allowed_exponent(results),
        layers=first.layers,
        passes=_passes(results),
        python=platform.python_version(),
        torch=version("torch"),
        torch_mlir=version("torch-mlir"),
        repeats=repeats,
    )


def growth_exponent(results: Sequence[Figures]) -> float:
    """Of all passes together: the slope of the line through log(seconds) over log(ops)."""
    return _slope(results, [each.total for each in results])


def allowed_exponent(results: Sequence[Figures]) -> float:
    """The same for n log n seconds."""
    return _slope(results, [each.joint_ops * log(each.joint_ops) for each in results])


def _slope(results: Sequence[Figures], seconds: Iterable[float]) -> float:
    return float(numpy.polyfit(numpy.log([each.joint_ops for each in results]), numpy.log(list(seconds)), 1)[0])


def _depths(results: Sequence[Figures]) -> str:
    rows = [[str(each.layers), f"{each.joint_ops:,}", f"{each.total:.2f}"] for each in results]
    return _table(["layers", "ops", "s"], [*rows, ["exponent", "", f"{growth_exponent(results):.2f}"]])


def _passes(results: Sequence[Figures]) -> str:
    rows = []
    for name, ops in results[0].ops.items():
        seconds = [each.seconds[name] for each in results]
        rows.append([f"`{name}`", f"{ops:,}", *(f"{each:.3f}" for each in seconds), f"{_slope(results, seconds):.2f}"])
    return _table(["pass", "ops", *(f"{each.layers} layers, s" for each in results), "exponent"], rows)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---", *("---:" for _ in headings[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
