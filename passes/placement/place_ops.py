"""Pass `place-ops`: where each op runs, and why."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import PLACEMENT, PLACEMENT_REASON
from dovetail.dialects.dovetail import CopyOp
from dovetail.dialects.reading import COMPUTING, Module, body, users
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.statements.devices import NUMBER, Devices
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.passes.base import Pass
from dovetail.passes.placement import reasons
from dovetail.passes.placement.placed_graph import placement_of
from dovetail.passes.placement.placement_rules import left, place


class PlaceOpsPass(Pass, name="place-ops", runs_at="split"):
    """Tags each torch op and each copy of `@forward`, `@backward` and what control flow runs with `dovetail.placement`.

    `region`: IREE generates its code. `library`: a vendor kernel behind ATen is the better code, or a tensor has no
    elements, so that there is nothing to compile, or lies on another device than the module's. `view`: no work at all.
    `fallback`: ATen runs it because nothing else can on the module's target; `dovetail.placement_reason` says why.
    """

    def run(self, module: ir.Module) -> None:
        device, devices = device_type(module), Devices(module)
        for function_op in Module(module).of(*COMPUTING).values():
            for op in body(function_op):
                is_torch = op.name.startswith("torch.") and kind(op) is not Kind.CONSTANT and not is_extern(op)
                if is_torch or op.name == CopyOp.OPERATION_NAME:
                    _tag(op, *place(op, device, devices))
            if not devices.is_single:
                _place_numbers(function_op)


def _tag(op: ir.Operation, placement: str, reason: str) -> None:
    op.attributes[PLACEMENT] = ir.StringAttr.get(placement, op.context)
    if reason:
        op.attributes[PLACEMENT_REASON] = ir.StringAttr.get(reason, op.context)


def _place_numbers(function_op: func.FuncOp) -> None:
    """Numbers as tensors lie on the CPU: each user gets one of its own, which a region makes for itself."""
    for op in (op for op in body(function_op) if op.name == NUMBER):
        with op.location, ir.InsertionPoint(op):
            for use in list(op.results[0].uses)[1:]:
                use.owner.operands[use.operand_number] = op.clone().results[0]
    for op in (op for op in body(function_op) if op.name == NUMBER):
        if not _is_in_regions(op):
            _tag(op, *left(reasons.NUMBER_ON_CPU))


def _is_in_regions(op: ir.Operation) -> bool:
    """Whether all that uses `op`, directly or through views, is a region's."""
    placed = [(user, placement_of(user)) for user in users(*op.results)]
    return all(each == "region" or (each == "view" and _is_in_regions(user)) for user, each in placed)
