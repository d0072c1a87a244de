"""A module's text as a pass left it, line by line, each with the user's line that it comes from."""

import linecache
from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.reading import body, symbol
from dovetail.explanation.picture_records import Line, Stage
from dovetail.explanation.value_origins import frame, line


def stage(name: str, module: ir.Module) -> Stage:
    """`module` now, after the pass `name`. The Python of a line is what its file holds today."""
    lines, locations = str(module).splitlines(), list(_locations(module))
    assert len(lines) == len(locations), (
        f"{len(lines)} lines: MLIR prints an op of our levels on one, that is {len(locations)}"
    )
    return Stage(name, tuple(_line(text, *location) for text, location in zip(lines, locations, strict=True)))


def _locations(module: ir.Module) -> Iterator[tuple[str, ir.Location | None]]:
    """What stands in each line of the text, as in `Line`, and where an op comes from."""
    yield "", None
    for function_op in module.body.operations:
        name = symbol(function_op)
        yield name, None
        if isinstance(function_op, func.FuncOp) and not function_op.is_external:
            yield from ((f"{name}:{index}", op.location) for index, op in enumerate(body(function_op)))
            yield "", None
    yield "", None


def _line(text: str, at: str, location: ir.Location | None) -> Line:
    found = frame(location) if location else None
    if location is None or found is None:
        return Line(text, "", "", at)
    python = linecache.getline(found.filename, found.start_line).strip()
    return Line(text, line(location), python, at)
