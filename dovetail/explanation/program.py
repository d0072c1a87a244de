"""A graph's module as the records that `dovetail.explain` returns: the whole, memory over time, its text at a stage."""

import linecache
from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import NOT_RECORDABLE, ONCE
from dovetail.dialects.dovetail import SetGradModeOp
from dovetail.dialects.memory.memory_use import MemoryUse, memory_use
from dovetail.dialects.reading import Module, Role, body, symbol
from dovetail.dialects.statements.devices import described
from dovetail.explanation.graph import nodes, recomputed
from dovetail.explanation.inputs import guard, inputs
from dovetail.explanation.outputs import outputs
from dovetail.explanation.picture_records import Line, Memory, MemoryStep, Stage
from dovetail.explanation.records import Program
from dovetail.explanation.value_origins import Origins, frame, line
from dovetail.explanation.work import library_calls, name_of, regions, saved


def memory_figures(module: ir.Module) -> tuple[Memory, ...]:
    """One record for each host function; see `dialects/memory/memory_use.py` for what is counted."""
    return tuple(Memory(name, len(use.ops), tuple(_steps(name, use))) for name, use in memory_use(module).items())


def _steps(name: str, use: MemoryUse) -> Iterator[MemoryStep]:
    before = 0
    for index, (op, live) in enumerate(zip(use.ops, use.live, strict=True)):
        if live != before:
            yield MemoryStep(f"{name}:{index}", name_of(op), line(op.location), live)
        before = live


def read_program(module: ir.Module, ends: str = "", stages: tuple[Stage, ...] = ()) -> Program:
    """What `module`, at level `regions`, says; `ends` and `stages` as in `Program`."""
    origins = Origins(module)
    found_inputs = inputs(origins)
    found_outputs = outputs(origins, [argument.name for argument in found_inputs])
    found_saved = saved(origins, found_inputs)
    found_nodes = nodes(origins, found_inputs, found_saved)
    modes = [op.opview for op in body(origins.module.call) if isinstance(op.opview, SetGradModeOp)]
    return Program(
        device=described(module),
        inputs=found_inputs,
        outputs=found_outputs,
        saved=found_saved,
        recomputed=recomputed(found_nodes),
        regions=regions(origins),
        library_calls=library_calls(origins),
        nodes=found_nodes,
        memory=memory_figures(module),
        guard=guard(origins),
        grad_mode=modes[-1].is_enabled if modes else None,
        has_backward=Role.BACKWARD in origins.module,
        once=_once(origins.module),
        host_ops=tuple(_host_ops(origins.module)),
        ends=ends,
        ir=str(module),
        stages=stages,
    )


def _once(module: Module) -> str:
    stated = (border.attributes[ONCE] for border in module.borders.values() if ONCE in border.attributes)
    return "; ".join(ir.StringAttr(once).value for once in stated)


def _host_ops(module: Module) -> Iterator[str]:
    """The reasons, with the user's line where it is known."""
    for half in module.of(Role.FORWARD, Role.BACKWARD).values():
        for op in body(half):
            if NOT_RECORDABLE in op.attributes:
                where = line(op.location)
                yield ir.StringAttr(op.attributes[NOT_RECORDABLE]).value + (f" at {where}" if where else "")


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
