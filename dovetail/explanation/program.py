"""A compiled graph's module as the record that `dovetail.explain` returns."""

from torch_mlir import ir

from dovetail.dialects.devices import described
from dovetail.dialects.dovetail import SetGradModeOp
from dovetail.dialects.reading import Role, body
from dovetail.explanation.graph import nodes, recomputed
from dovetail.explanation.inputs import guard, inputs
from dovetail.explanation.memory import memory
from dovetail.explanation.outputs import outputs
from dovetail.explanation.picture_records import Stage
from dovetail.explanation.records import Program
from dovetail.explanation.value_origins import Origins
from dovetail.explanation.work import library_calls, regions, saved


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
