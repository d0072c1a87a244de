"""A compiled graph's module as the record that `dovetail.explain` returns, with what it says of memory over time."""

from collections.abc import Iterator

from torch_mlir import ir

from dovetail.dialects.devices import described
from dovetail.dialects.dovetail import SetGradModeOp
from dovetail.dialects.memory.memory_use import MemoryUse, memory_use
from dovetail.dialects.reading import Role, body
from dovetail.explanation.graph import nodes, recomputed
from dovetail.explanation.inputs import guard, inputs
from dovetail.explanation.outputs import outputs
from dovetail.explanation.picture_records import Memory, MemoryStep, Stage
from dovetail.explanation.records import Program
from dovetail.explanation.value_origins import Origins, line
from dovetail.explanation.work import library_calls, name_of, regions, saved


def memory(module: ir.Module) -> tuple[Memory, ...]:
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
    found_outputs = outputs(origins, [each.name for each in found_inputs])
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
        memory=memory(module),
        guard=guard(origins),
        grad_mode=modes[-1].is_enabled if modes else None,
        has_backward=Role.BACKWARD in origins.module,
        ends=ends,
        ir=str(module),
        stages=stages,
    )
