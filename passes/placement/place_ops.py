"""Pass `place-ops`: where each op runs, and why."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import PLACEMENT, PLACEMENT_REASON
from dovetail.dialects.calls import is_extern
from dovetail.dialects.devices import NUMBER, Devices
from dovetail.dialects.dovetail import CopyOp
from dovetail.dialects.reading import COMPUTING, Module, body, made_by, producer, users
from dovetail.dialects.symbols import is_open_op, sizes_of
from dovetail.dialects.target import device_type
from dovetail.dialects.torch_facts import strides
from dovetail.dialects.torch_facts.expected import expected_info
from dovetail.dialects.torch_facts.ops import NAMESPACES, Kind, aten_name, kind, row
from dovetail.dialects.torch_facts.row import Joins, Row
from dovetail.dialects.torch_facts.transposition import is_transposition
from dovetail.dialects.torch_facts.types import shaped_info
from dovetail.passes.base import Pass
from dovetail.passes.costs.cost_model import MOST_BINDINGS
from dovetail.passes.placement.iree_support import refusal, refusal_of
from dovetail.passes.placement.joins import (
    is_a_copied_slice,
    is_computed_for_a_join,
    is_filled_for_scatters,
    joins_rows,
    kernels_write_parts,
    selects_parts,
)
from dovetail.passes.placement.open_sizes import UNKNOWN, can_be_sized
from dovetail.passes.placement.placed_graph import placement_of
from dovetail.passes.rewriting.constants import integer

NO_ELEMENTS = "a tensor without elements leaves nothing to compile"
"""Why an op of any kind is left to ATen."""
_IN_ROWS = 0
"""PyTorch's number of the memory format in which tensors are contiguous."""
_TOO_MANY = f"with its result more than the {MOST_BINDINGS} tensors that one dispatch of IREE's can bind"


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
            _tag(op, "library", "a number as a tensor, on the CPU")


def _is_in_regions(op: ir.Operation) -> bool:
    """Whether all that uses `op`, directly or through views, is a region's."""
    placed = [(user, placement_of(user)) for user in users(*op.results)]
    return all(each == "region" or (each == "view" and _is_in_regions(user)) for user, each in placed)


def _place(op: ir.Operation, device: str, devices: Devices) -> tuple[str, str]:
    is_known = op.name == CopyOp.OPERATION_NAME or kind(op) not in (Kind.VIEW, Kind.UNKNOWN)
    if is_known and (elsewhere := devices.elsewhere(op)):
        return "library", f"a tensor lies on {elsewhere}, regions run on {devices.home}"
    if op.name == CopyOp.OPERATION_NAME:
        if _has_no_elements(op):
            return "library", NO_ELEMENTS
        is_sized = sizes_of(op.results[0]) is not None and can_be_sized(op)
        if is_open_op(op) and not is_sized:
            return "fallback", UNKNOWN
        if device == "cpu" and is_a_copied_slice(op):
            return "library", "ATen copies a slice row by row"
        # A region's result is in memory of its own, whatever value it is.
        reason = refusal("aten.clone.default", [expected_info(op.operands[0])], device)
        return ("fallback", reason) if reason else ("region", "")
    if op.name == NUMBER and is_open_op(op):
        return "library", "a number as a tensor, for regions to take"
    facts, name = row(op), aten_name(op)
    if facts.kind is Kind.VIEW:
        return "view", ""
    if facts.kind is Kind.LIBRARY:
        return "library", f"library kernel: {facts.kernel}"
    if facts.kind is Kind.UNKNOWN:
        return "fallback", _unknown(facts, name)
    if _has_no_elements(op):
        return "library", NO_ELEMENTS
    if op.name == "torch.operator":
        return "fallback", "not an op of the torch dialect"
    if facts.joins is not Joins.NOT:
        if len(op.operands[0].owner.operands) >= MOST_BINDINGS:
            return "library", _TOO_MANY
        if joins_rows(op) and not (device == "cuda" and (selects_parts(op) or kernels_write_parts(op))):
            return "library", "ATen copies rows of several tensors faster than a loop over the result's elements"
    if _lays_out(op, device):
        return "library", "ATen lays out in rows what lies in another order"
    reason = refusal_of(op, device)
    if not reason and device == "cpu" and _reads_expanded(op):
        return "library", "ATen reads what is expanded to open sizes without a copy"
    if not reason and device == "cpu" and is_computed_for_a_join(op):
        return "library", "ATen computes what it joins, without a copy"
    if not reason and device == "cpu" and is_filled_for_scatters(op):
        return "library", "ATen scatters into what it filled, without a copy"
    return ("fallback", reason) if reason else ("region", "")


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


def _unknown(facts: Row, name: str | None) -> str:
    """Why nothing is known of the work of an op."""
    if facts.name:
        return "its row in dialects/torch_facts/rows/opaque.py claims no kind"
    is_aten = name is not None and name.split(".")[0] in NAMESPACES
    return "no row in dialects/torch_facts/rows" if is_aten else "a custom op"
