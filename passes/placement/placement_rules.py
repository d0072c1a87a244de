"""Where an op runs, and why: rules, of which the first that answers is right."""

from collections.abc import Callable

from torch_mlir import ir

from dovetail.dialects.dovetail import CopyOp
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import made_by, operand_ops, producer
from dovetail.dialects.sizes.expected import expected_info
from dovetail.dialects.sizes.symbols import is_open_op, sizes_of
from dovetail.dialects.statements.devices import NUMBER, Devices
from dovetail.dialects.torch_facts import strides
from dovetail.dialects.torch_facts.in_regions import CHECKED_GATHER, may_stand_in_regions, positions
from dovetail.dialects.torch_facts.ops import NAMESPACES, Kind, aten_name, kind, row
from dovetail.dialects.torch_facts.reshapes import behind_reshapes
from dovetail.dialects.torch_facts.row import Joins
from dovetail.dialects.torch_facts.transposition import is_transposition
from dovetail.dialects.torch_facts.types import shaped_info
from dovetail.passes.costs.cost_model import MOST_BINDINGS
from dovetail.passes.placement import reasons
from dovetail.passes.placement.iree_support import refusal, refusal_of
from dovetail.passes.placement.joins import (
    copies_arguments,
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
from dovetail.passes.placement.scattered_views import reorders_few
from dovetail.passes.rewriting.constants import integer

Placed = tuple[str, str]
"""A placement, and why; "" where nobody asks."""

_Rule = Callable[[ir.Operation, str], Placed | None]
"""Where it has an op run on a type of device; None where it says nothing of the op."""

_IN_ROWS = 0
"""PyTorch's number of the memory format in which tensors are contiguous."""


def place(op: ir.Operation, device: str, devices: Devices) -> Placed:
    """Where `op`, a torch op or a copy, runs on `device`, where the module has these `devices`."""
    is_copy = op.name == CopyOp.OPERATION_NAME
    is_known = is_copy or kind(op) not in (Kind.VIEW, Kind.UNKNOWN)
    if is_known and (elsewhere := devices.elsewhere(op)):
        return left(reasons.ELSEWHERE, device=elsewhere, home=devices.home)
    answers = (rule(op, device) for rule in (_OF_COPIES if is_copy else _OF_OPS))
    return next((answer for answer in answers if answer is not None), ("region", ""))


def left(reason: Reason, **told: object) -> Placed:
    """The placement of an op that is left to ATen."""
    return "fallback" if reason.is_fallback else "library", reason.of(**told)


def _left_if(holds: Callable[[ir.Operation], bool], reason: Reason, *on: str) -> _Rule:
    """The rule that leaves to ATen what `holds` is true of, `on` these types of device, or all."""
    return lambda op, device: left(reason) if (not on or device in on) and holds(op) else None


def _by_kind(op: ir.Operation, device: str) -> Placed | None:
    facts = row(op)
    match facts.kind:
        case Kind.VIEW:
            return "view", ""
        case Kind.LIBRARY:
            is_gathered = may_stand_in_regions(op, device) and _computes_positions(op) and _reads_memory(op)
            return None if is_gathered else left(reasons.KERNEL, kernel=facts.kernel.value)
        case Kind.UNKNOWN:
            return left(_unknown(op))
    return None


def _computes_positions(op: ir.Operation) -> bool:
    """Whether a region can compute where `op` gathers: all of that, which is placed before it, runs in regions."""
    made = (producer(value) for value in positions([op]))
    computing = reachable((each for each in made if each is not None), operand_ops)
    return all(kind(each) is Kind.CONSTANT or placement_of(each) in ("region", "view") for each in computing)


def _reads_memory(op: ir.Operation) -> bool:
    """Whether no region has to store, for `op` that gathers one number of each row, what it computes."""
    made = behind_reshapes(op.operands[0])
    return op.name != CHECKED_GATHER or made is None or placement_of(made) != "region"


def _unknown(op: ir.Operation) -> Reason:
    """Why nothing is known of the work of an op."""
    if row(op).name:
        return reasons.NO_KIND
    name = aten_name(op)
    is_aten = name is not None and name.split(".")[0] in NAMESPACES
    return reasons.NO_ROW if is_aten else reasons.CUSTOM


def _joined(op: ir.Operation, device: str) -> Placed | None:
    if row(op).joins is Joins.NOT:
        return None
    if len(op.operands[0].owner.operands) >= MOST_BINDINGS:
        return left(reasons.TOO_MANY, most=MOST_BINDINGS)
    if device == "cuda" and copies_arguments(op):
        return left(reasons.JOINS_ARGUMENTS)
    return left(reasons.JOINS_ROWS) if joins_rows(op) and not _joins_in_regions(op, device) else None


def _joins_in_regions(op: ir.Operation, device: str) -> bool:
    """Whether a region joins rows no slower than ATen."""
    return selects_parts(op, device) or kernels_write_parts(op, device)


def _laid_out(op: ir.Operation, device: str) -> Placed | None:
    """Of what does nothing but to lay a permuted tensor out in rows, for which regions have no blocks."""
    facts = row(op)
    if not facts.is_identity or facts.format_at is None or integer(op.operands[facts.format_at]) != _IN_ROWS:
        return None
    permuted = made_by(op.operands[0], "torch.aten.permute")
    if permuted is not None and reorders_few(permuted):
        return None
    is_turned = permuted is not None and not is_transposition(permuted, device)
    return left(reasons.LAYS_OUT) if is_turned else None


def _refused(op: ir.Operation, device: str) -> Placed | None:
    reason = refusal_of(op, device)
    return ("fallback", reason) if reason else None


def _refused_copy(op: ir.Operation, device: str) -> Placed | None:
    """A region's result is in memory of its own, whatever value it is."""
    reason = refusal("aten.clone.default", [expected_info(op.operands[0])], device)
    return ("fallback", reason) if reason else None


def _is_open_number(op: ir.Operation) -> bool:
    return op.name == NUMBER and is_open_op(op)


def _is_unsized(copy: ir.Operation) -> bool:
    return is_open_op(copy) and (sizes_of(copy.results[0]) is None or not can_be_sized(copy))


def _has_no_name(op: ir.Operation) -> bool:
    """Whether the torch dialect has no op for what `op` calls."""
    return op.name == "torch.operator"


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


_OF_COPIES: tuple[_Rule, ...] = (
    _left_if(_has_no_elements, reasons.NO_ELEMENTS),
    _left_if(_is_unsized, reasons.OPEN),
    _left_if(is_a_copied_slice, reasons.COPIES_SLICE, "cpu"),
    _refused_copy,
)
_OF_OPS: tuple[_Rule, ...] = (
    _left_if(_is_open_number, reasons.NUMBER),
    _by_kind,
    _left_if(_has_no_elements, reasons.NO_ELEMENTS),
    _left_if(_has_no_name, reasons.NO_DIALECT),
    _joined,
    _laid_out,
    _refused,
    _left_if(_reads_expanded, reasons.READS_EXPANDED, "cpu"),
    _left_if(is_computed_for_a_join, reasons.COMPUTES_JOINED, "cpu"),
    _left_if(is_filled_for_scatters, reasons.SCATTERS, "cpu"),
)
"""What none of them says anything of, a region computes."""
