"""A compiled graph's module as the record that `dovetail.explain` returns."""

from torch_mlir import ir

from dovetail.dialects.dovetail import SetGradModeOp
from dovetail.explanation_graph import nodes, recomputed
from dovetail.explanation_inputs import guard, inputs
from dovetail.explanation_memory import memory
from dovetail.explanation_outputs import outputs
from dovetail.explanation_picture_records import Stage
from dovetail.explanation_records import Program
from dovetail.explanation_work import library_calls, regions, saved
from dovetail.passes.rewriting import body
from dovetail.value_origins import Origins


def read_program(module: ir.Module, ends: str = "", stages: tuple[Stage, ...] = ()) -> Program:
    """What `module`, at level `regions`, says; `ends` and `stages` as in `Program`."""
    origins = Origins(module)
    found_inputs = inputs(origins)
    found_outputs = outputs(origins, [each.name for each in found_inputs])
    found_saved = saved(origins, found_inputs)
    found_nodes = nodes(origins, found_inputs, found_saved)
    modes = [op.opview for op in body(origins.functions["call"]) if isinstance(op.opview, SetGradModeOp)]
    return Program(
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
        has_backward="backward" in origins.functions,
        ends=ends,
        ir=str(module),
        stages=stages,
    )
