"""Pass `place-ops`: where each op runs, and why."""

from dataclasses import dataclass

from torch_mlir import ir

from dovetail.dialects.attributes import PLACEMENT, PLACEMENT_REASON
from dovetail.dialects.calls import is_extern
from dovetail.dialects.control_flow import is_subgraph
from dovetail.dialects.dovetail import CopyOp
from dovetail.dialects.torch_facts.ops import LIBRARY, NAMESPACES, Kind, aten_name, kind
from dovetail.dialects.torch_facts.types import tensor_info
from dovetail.passes.base import Pass
from dovetail.passes.placement.cost_model import MOST_BINDINGS
from dovetail.passes.placement.iree_support import folding_refusal, refusal
from dovetail.passes.rewriting.cloning import body, functions


@dataclass(frozen=True)
class PlaceOpsPass(Pass, name="place-ops", runs_at="split"):
    """Tags each torch op and each copy of `@forward`, `@backward` and what control flow runs with `dovetail.placement`.

    `region`: IREE generates its code. `library`: a vendor kernel behind ATen is the better code. `view`: no work at
    all. `fallback`: ATen runs it because nothing else can; `dovetail.placement_reason` says why.
    """

    def run(self, module: ir.Module) -> None:
        for name, function_op in functions(module).items():
            if name not in ("forward", "backward") and not is_subgraph(function_op):
                continue
            for op in body(function_op):
                if not _is_placed(op):
                    continue
                placement, reason = _place(op)
                op.attributes[PLACEMENT] = ir.StringAttr.get(placement, module.context)
                if reason:
                    op.attributes[PLACEMENT_REASON] = ir.StringAttr.get(reason, module.context)


def _is_placed(op: ir.Operation) -> bool:
    if op.name == CopyOp.OPERATION_NAME:
        return True
    return op.name.startswith("torch.") and kind(op) is not Kind.CONSTANT and not is_extern(op)


def _place(op: ir.Operation) -> tuple[str, str]:
    if op.name == CopyOp.OPERATION_NAME:
        # A region's result is in memory of its own, whatever value it is.
        reason = refusal("aten.clone.default", [tensor_info(op.operands[0].type)])
        return ("fallback", reason) if reason else ("region", "")
    what, name = kind(op), aten_name(op)
    if what is Kind.VIEW:
        return "view", ""
    if what is Kind.LIBRARY and name is not None:
        return "library", f"library kernel: {LIBRARY[name.split('.')[1]]}"
    if what is Kind.UNKNOWN:
        is_aten = name is not None and name.split(".")[0] in NAMESPACES
        return "fallback", "no row in dialects/torch_facts/ops.py" if is_aten else "a custom op"
    if op.name == "torch.operator":
        return "fallback", "not an op of the torch dialect"
    if op.name in ("torch.aten.cat", "torch.aten.stack") and len(op.operands[0].owner.operands) >= MOST_BINDINGS:
        return "library", f"with its result more than the {MOST_BINDINGS} tensors that one dispatch of IREE's can bind"
    reason = refusal(name or op.name, [tensor_info(value.type) for value in [*op.operands, *op.results]])
    reason = reason or folding_refusal(op)
    return ("fallback", reason) if reason else ("region", "")
