"""What of a host function runs nothing: it only names memory that is there, or surely lies as stated."""

from torch_mlir import ir

from dovetail.dialects.dovetail import AllocOp, DestinationOp, OwnOp, ReadOp, RefType
from dovetail.dialects.reading import made_by
from dovetail.dialects.sizes.known_strides import lies_in_rows
from dovetail.dialects.sizes.products import products, row_major_products
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.dialects.torch_facts.types import require_shaped_info


def names_memory(op: ir.Operation) -> bool:
    """Whether `op`, of a host function that writes nothing, runs nothing: it only names memory that is there."""
    match op.opview:
        case OwnOp() as own:
            return lies_as_stated(own)
        case DestinationOp() as destination:
            return destination.proof_name != "none"
    return op.name in (LOAD, ReadOp.OPERATION_NAME)


def lies_as_stated(op: OwnOp) -> bool:
    """Whether an owned result lies in memory of a region's, which surely has its strides: made for it, or updated."""
    load, type_ = made_by(op.value, LOAD), RefType(op.ref.type)
    if load is None:
        return False
    memory = load.operands[0]
    if updated := made_by(memory, DestinationOp.OPERATION_NAME):
        return lies_in_rows(op.ref) and lies_in_rows(updated.operands[0])
    made = made_by(memory, AllocOp.OPERATION_NAME)
    return made is not None and (type_.is_row_major or _is_row_major(op, made.opview))


def _is_row_major(op: OwnOp, memory: AllocOp) -> bool:
    """Whether the open strides of an owned result are surely those of `memory`, where its value lies."""
    wanted = row_major_products(require_shaped_info(memory.memory.type).shape, memory.numbers)
    return wanted is not None and products(RefType(op.ref.type).strides, op.numbers) == wanted
