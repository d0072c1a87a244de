"""What must not be handed to IREE: element types and ops that it refuses, or compiles to wrong numbers.

What holds of single ops their rows say (`refused` in `dialects/torch_facts/rows/`); what holds of a kind is said here.
Measured with IREE 3.13.0 by `make sweep`; its findings are in docs/op-sweep.md. What a decomposition makes right
(frontend/decompose/table.py) is refused only where that leaves ops of the same name behind.
"""

from collections.abc import Iterable, Iterator, Sequence

from torch_mlir import ir

from dovetail.dialects.calls import is_extern
from dovetail.dialects.reading import made_by, producer
from dovetail.dialects.torch_facts.arithmetic import COMPARISONS
from dovetail.dialects.torch_facts.expected import expected_info
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.ops import Kind, aten_name, row, row_of_name
from dovetail.dialects.torch_facts.row import FLOATS, INTEGERS, DecidedBy, Refused, Row
from dovetail.dialects.torch_facts.types import TensorInfo
from dovetail.passes.placement.open_sizes import open_refusal
from dovetail.passes.placement.slow_reductions import slow_reduction

_NARROW = ("int8", "uint8", "int16")
Tensors = Sequence[TensorInfo | None]


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
    reason = _refusal(facts, name, tensors, device) or (slow_reduction(op) if device == "cuda" else "")
    if reason:
        return reason
    for refused in facts.refused:
        if refused.of_constants and _holds(refused, name, tensors, device) and _is_known(op.operands[0]):
            return refused.reason
    return ""


def _refusal(op: Row, name: str, tensors: Tensors, device: str) -> str:
    dtypes = _dtypes(tensors)
    unknown = sorted(dtypes.difference(FLOATS, INTEGERS))
    if unknown:
        return f"element type {unknown[0]} can't be imported"
    for refused in op.refused:
        if not refused.of_constants and _holds(refused, name, tensors, device):
            return refused.reason
    value = tensors[0] if tensors else None
    if "uint8" in _dtypes(tensors[:-1]) and not op.converts and _promotes(tensors):
        return "uint8 is taken for a signed number where it becomes another type"
    if op.name in COMPARISONS and len(_dtypes(tensors[:-1])) > 1:
        return "operands of two types do not compile, or truth values compare as -1"
    if op.kind is Kind.REDUCTION and value is not None and value.shape == ():
        return "reductions of 0-dim tensors do not compile"
    if op.kind not in (Kind.POINTWISE, Kind.REDUCTION):
        return "negative padding does not compile" if op.name == "constant_pad_nd" and _shrinks(tensors) else ""
    if "uint8" in dtypes and not op.knows_uint8:
        return "uint8 is taken for a signed number"
    narrows = _dtypes(tensors[:1]).intersection(FLOATS) and _dtypes(tensors[-1:]).intersection(_NARROW)
    return "saturates where the machine's packing does" if narrows else ""


def _holds(refused: Refused, name: str, tensors: Tensors, device: str) -> bool:
    if device not in refused.devices or (refused.overloads and name.rpartition(".")[2] not in refused.overloads):
        return False
    deciding = {DecidedBy.ANY: tensors, DecidedBy.FIRST: tensors[:1], DecidedBy.RESULT: tensors[-1:]}
    return not _dtypes(deciding[refused.decided_by]).isdisjoint(refused.dtypes)


def _promotes(tensors: Tensors) -> bool:
    """Whether bytes become the type of the result."""
    result = tensors[-1]
    return result is not None and result.dtype not in ("uint8", "bool")


def _each(operands: Iterable[ir.Value]) -> Iterator[ir.Value]:
    """The operands, those in lists one by one."""
    for operand in operands:
        listed = made_by(operand, LIST)
        yield from [operand] if listed is None else listed.operands


def _dtypes(tensors: Tensors) -> set[str]:
    return {info.dtype for info in tensors if info is not None}


def _is_known(value: ir.Value) -> bool:
    """Whether torch ops compute `value` from constants alone, an `arange` apart: that is not folded."""
    pending, met = [value], {value}
    while pending:
        op = producer(pending.pop())
        if op is None or not op.name.startswith("torch.") or is_extern(op) or op.name.startswith("torch.aten.arange"):
            return False
        more = set(op.operands) - met
        met |= more
        pending += more
    return True


def _shrinks(tensors: Tensors) -> bool:
    value, result = tensors[0], tensors[-1]
    if value is None or result is None:
        return False
    return any(after < before for before, after in zip(value.shape, result.shape, strict=True))
