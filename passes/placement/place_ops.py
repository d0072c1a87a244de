"""Pass `place-ops`: where each op runs, and why."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import PLACEMENT, PLACEMENT_REASON
from dovetail.dialects.dovetail import CopyOp
from dovetail.dialects.reading import COMPUTING, Module, body, made_by, producer, users
from dovetail.dialects.sizes.expected import expected_info
from dovetail.dialects.sizes.symbols import is_open_op, sizes_of
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.statements.devices import NUMBER, Devices
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts import strides
from dovetail.dialects.torch_facts.ops import NAMESPACES, Kind, aten_name, kind, row
from dovetail.dialects.torch_facts.row import Joins, Row
from dovetail.dialects.torch_facts.transposition import is_transposition
from dovetail.dialects.torch_facts.types import shaped_info
from dovetail.passes.base import Pass
from dovetail.passes.costs.cost_model import MOST_BINDINGS
from dovetail.passes.placement import reasons
from dovetail.passes.placement.iree_support import refusal, refusal_of
from dovetail.passes.placement.joins import (
    is_a_copied_slice,
    is_computed_for_a_join,
    is_filled_for_scatters,
    joins_rows,
    kernels_write_parts,
    selects_parts,
)
from dovetail.passes.placement.open_sizes import can_be_sized
from dovetail.passes.placement.placed_graph import placement_of
from dovetail.passes.placement.reasons import Reason
from dovetail.passes.rewriting.constants import integer

_IN_ROWS = 0
"""PyTorch's number of the memory format in which tensors are contiguous."""


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
                    _tag(op, *_place(op, device, devices))
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
            _tag(op, *_left(reasons.NUMBER_ON_CPU))


def _is_in_regions(op: ir.Operation) -> bool:
    """Whether all that uses `op`, directly or through views, is a region's."""
    placed = [(user, placement_of(user)) for user in users(*op.results)]
    return all(each == "region" or (each == "view" and _is_in_regions(user)) for user, each in placed)


def _left(reason: Reason, **told: object) -> tuple[str, str]:
    """The placement of an op that is left to ATen."""
    return "fallback" if reason.is_fallback else "library", reason.of(**told)


def _place(op: ir.Operation, device: str, devices: Devices) -> tuple[str, str]:
    is_known = op.name == CopyOp.OPERATION_NAME or kind(op) not in (Kind.VIEW, Kind.UNKNOWN)
    if is_known and (elsewhere := devices.elsewhere(op)):
        return _left(reasons.ELSEWHERE, device=elsewhere, home=devices.home)
    if op.name == CopyOp.OPERATION_NAME:
        if _has_no_elements(op):
            return _left(reasons.NO_ELEMENTS)
        is_sized = sizes_of(op.results[0]) is not None and can_be_sized(op)
        if is_open_op(op) and not is_sized:
            return _left(reasons.OPEN)
        if device == "cpu" and is_a_copied_slice(op):
            return _left(reasons.COPIES_SLICE)
        # A region's result is in memory of its own, whatever value it is.
        reason = refusal("aten.clone.default", [expected_info(op.operands[0])], device)
        return ("fallback", reason) if reason else ("region", "")
    if op.name == NUMBER and is_open_op(op):
        return _left(reasons.NUMBER)
    facts, name = row(op), aten_name(op)
    if facts.kind is Kind.VIEW:
        return "view", ""
    if facts.kind is Kind.LIBRARY:
        return _left(reasons.KERNEL, kernel=facts.kernel.value)
    if facts.kind is Kind.UNKNOWN:
        return _left(_unknown(facts, name))
    if _has_no_elements(op):
        return _left(reasons.NO_ELEMENTS)
    if op.name == "torch.operator":
        return _left(reasons.NO_DIALECT)
    if facts.joins is not Joins.NOT:
        if len(op.operands[0].owner.operands) >= MOST_BINDINGS:
            return _left(reasons.TOO_MANY, most=MOST_BINDINGS)
        if joins_rows(op) and not _joins_in_regions(op, device):
            return _left(reasons.JOINS_ROWS)
    if _lays_out(op, device):
        return _left(reasons.LAYS_OUT)
    reason = refusal_of(op, device)
    if not reason and device == "cpu" and _reads_expanded(op):
        return _left(reasons.READS_EXPANDED)
    if not reason and device == "cpu" and is_computed_for_a_join(op):
        return _left(reasons.COMPUTES_JOINED)
    if not reason and device == "cpu" and is_filled_for_scatters(op):
        return _left(reasons.SCATTERS)
    return ("fallback", reason) if reason else ("region", "")


def _joins_in_regions(op: ir.Operation, device: str) -> bool:
    """Whether a region joins rows no slower than ATen."""
    return selects_parts(op, device) or (device == "cuda" and kernels_write_parts(op))


def _lays_out(op: ir.Operation, device: str) -> bool:
    """Whether `op` does nothing but to lay a permuted tensor out in rows, for which regions have no blocks."""
    facts = row(op)
    if not facts.is_identity or facts.format_at is None or integer(op.operands[facts.format_at]) != _IN_ROWS:
        return False
    permuted = made_by(op.operands[0], "torch.aten.permute")
    return permuted is not None and not is_transposition(permuted, device)


def _reads_expanded(op: ir.Operation) -> bool:
    """Whether `op` computes elements of what is expanded to open sizes, which would be copied for a region."""
    made = [producer(value) for value in op.operands] if kind(op) is Kind.POINTWISE and is_open_op(op) else []
    return any(each is not None and row(each).strides is strides.expand and is_open_op(each) for each in made)


def _has_no_elements(op: ir.Operation) -> bool:
    """Whether an operand or a result is a tensor with a size of 0, on which IREE's compiler may crash or give up."""
    values = [*op.operands, *op.results]
    if row(op).joins is not Joins.NOT:
        values += op.operands[0].owner.operands
    return any((info := shaped_info(value.type)) is not None and 0 in info.shape for value in values)


def _unknown(facts: Row, name: str | None) -> Reason:
    """Why nothing is known of the work of an op."""
    if facts.name:
        return reasons.NO_KIND
    is_aten = name is not None and name.split(".")[0] in NAMESPACES
    return reasons.NO_ROW if is_aten else reasons.CUSTOM
