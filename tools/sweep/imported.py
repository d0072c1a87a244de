"""A function of tensors as a module, and of its results those that regions compute."""

from collections.abc import Callable, Sequence

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch_mlir import ir
from torch_mlir.dialects import func
from torch_mlir.extras.fx_importer import FxImporter

from dovetail.dialects.attributes import PLACEMENT, PLACEMENT_REASON
from dovetail.dialects.building.cloning import set_signature
from dovetail.dialects.context import make_context
from dovetail.dialects.reading import Module, Role, body, is_used, returned, set_role, terminator
from dovetail.dialects.statements.calls import is_extern, reason
from dovetail.dialects.torch_facts.ops import aten_name
from dovetail.dialects.torch_facts.types import TensorInfo, require_tensor_info
from dovetail.frontend.decompose.table import decompositions
from dovetail.frontend.to_ir.node_importer import NodeImporter


def imported(function: Callable, examples: Sequence[torch.Tensor], decompose: bool) -> ir.Module:
    """`function` of tensors like `examples` as the function `@forward` of a module; it returns a list of tensors."""
    table = decompositions() if decompose else {}
    traced = make_fx(function, decomposition_table=table, tracing_mode="fake")(*examples)
    module = ir.Module.create(ir.Location.unknown(context := make_context()))
    with context:
        importer = FxImporter(module=module, config_check=False, graph_node_importer_cls=NodeImporter)
        importer.import_stateless_graph(traced.graph, func_name="forward")
        set_role(Module(module).functions["forward"], Role.FORWARD)
    return module


def keep_compiled(module: ir.Module, counts: list[int]) -> tuple[list[str], list[TensorInfo]]:
    """Drops the results that ATen computes; says for each case why, and the form of what is left."""
    function = module.body.operations[0]
    end, values = terminator(function), iter(returned(function))
    refusals, kept = [], []
    for count in counts:
        results = [next(values) for _ in range(count)]
        reasons = [each for value in results for each in _reasons(value)]
        refusals.append(reasons[0] if reasons else "")
        kept += [] if reasons else results
    with ir.InsertionPoint(end):
        func.ReturnOp(kept)
    end.erase()
    for op in reversed(body(function)[:-1]):
        if not is_used(*op.results):
            op.erase()
        else:
            for name in (PLACEMENT, PLACEMENT_REASON):
                if name in op.attributes:
                    del op.attributes[name]
    set_role(function, Role.REGION)
    function.attributes["sym_visibility"] = ir.StringAttr.get("private")
    set_signature(function, [value.type for value in kept])
    return refusals, [require_tensor_info(value.type) for value in kept]


def _reasons(value: ir.Value) -> list[str]:
    """Why ops that `value` depends on are not compiled."""
    if isinstance(value.owner, ir.Block):
        return []
    op = value.owner.operation
    found = [each for operand in op.operands for each in _reasons(operand)]
    if is_extern(op):  # a library call as imported, which is never placed
        found.append(f"{aten_name(op)}: {reason(op)}")
    if PLACEMENT in op.attributes and ir.StringAttr(op.attributes[PLACEMENT]).value in ("fallback", "library"):
        found.append(f"{aten_name(op)}: {ir.StringAttr(op.attributes[PLACEMENT_REASON]).value}")
    return found
