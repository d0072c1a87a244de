"""What must not be handed to IREE: element types and ops that it refuses, or compiles to wrong numbers.

What holds of single ops their rows say (`refused` in `dialects/torch_facts/rows/`); what holds of kinds, `kinds.py`
there. Measured with IREE 3.13.0 by `make sweep`; its findings are in docs/op-sweep.md. What a decomposition makes right
(frontend/decompose/table.py) is refused only where that leaves ops of the same name behind.
"""

from collections.abc import Container, Iterable, Iterator

from torch_mlir import ir

from dovetail.dialects.reading import made_by, producer
from dovetail.dialects.sizes.expected import expected_info
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.torch_facts.element_types import EVERY
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.ops import aten_name, row, row_of_name
from dovetail.dialects.torch_facts.ranges import shifts_in_range
from dovetail.dialects.torch_facts.refused import Tensors, When, dtypes_of
from dovetail.dialects.torch_facts.row import Row
from dovetail.dialects.torch_facts.rows.kinds import OF_KINDS
from dovetail.passes.placement.open_sizes import open_refusal
from dovetail.passes.placement.reasons import NO_TYPE
from dovetail.passes.placement.slow_reductions import slow_reduction


def refusal(name: str, tensors: Tensors, device: str) -> str:
    """Why IREE can't compile the ATen overload `name` for a `device` on tensors like these; "" if it can.

    `tensors` are its operands and results, None for what is no tensor.
    """
    return _refusal(row_of_name(name), name, tensors, device)


def refusal_of(op: ir.Operation, device: str) -> str:
    """Why IREE can't compile `op` for a type of `device`; "" if it can."""
    facts, name = row(op), aten_name(op) or op.name
    open_reason = open_refusal(op, device)
    if open_reason:
        return open_reason
    tensors = [expected_info(value) for value in (*_each(op.operands), *op.results)]
    may_shift = any(refused.when is When.TOO_FAR for refused in facts.refused)
    apart = (When.FOLDED, When.TOO_FAR) if may_shift and shifts_in_range(op) else (When.FOLDED,)
    reason = _refusal(facts, name, tensors, device, apart) or (slow_reduction(op) if device == "cuda" else "")
    if reason:
        return reason
    for refused in facts.refused:
        if refused.when is When.FOLDED and refused.holds(name, tensors, device) and _is_known(op.operands[0]):
            return refused.reason
    return ""


def _refusal(op: Row, name: str, tensors: Tensors, device: str, apart: Container[When] = (When.FOLDED,)) -> str:
    """Why IREE can't be given what `op` is the row of, but for what is the case `apart`."""
    unknown = sorted(dtypes_of(tensors).difference(EVERY))
    if unknown:
        return NO_TYPE.of(dtype=unknown[0])
    own = [refused for refused in op.refused if refused.when not in apart]
    for refused in (*own, *(each.refused for each in OF_KINDS if each.is_of(op))):
        if refused.holds(name, tensors, device):
            return refused.reason
    return ""


def _each(operands: Iterable[ir.Value]) -> Iterator[ir.Value]:
    """The operands, those in lists one by one."""
    for operand in operands:
        listed = made_by(operand, LIST)
        yield from [operand] if listed is None else listed.operands


def _is_known(value: ir.Value) -> bool:
    """Whether torch ops compute `value` from constants alone, and IREE folds them all."""
    pending, met = [value], {value}
    while pending:
        op = producer(pending.pop())
        if op is None or not op.name.startswith("torch.") or is_extern(op) or row(op).never_folded:
            return False
        more = set(op.operands) - met
        met |= more
        pending += more
    return True
