"""What of a host function runs nothing, and functions that do nothing but launch updates of their arguments."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import IN_PLACE
from dovetail.dialects.dovetail import AllocOp, DestinationOp, OwnOp, ReadOp, RefType, WriteOp
from dovetail.dialects.known_strides import lies_in_rows
from dovetail.dialects.products import products, row_major_products
from dovetail.dialects.reading import Module, Role, arguments, body, made_by, of_class, producer, returned
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.dialects.torch_facts.types import require_shaped_info


def only_updates(module: Module) -> bool:
    """Whether all that `@call` does is to have its arguments checked, and updated by regions that take nothing else.

    They lie row by row, of known sizes, and each is passed to a region. That writes are in place, their proofs say.
    """
    if Role.FORWARD not in module or len(module.guards) != 1 or returned(module.call):
        return False
    given, [*ops, _], [*host, _] = arguments(module.call), body(module.call), body(module.forward)
    if not all(_is_call(op) and list(op.operands) == given for op in ops[:2]):
        return False
    return (
        [module.callee(op) for op in ops[:2]] == [*module.guards.values(), module.forward]
        and all(isinstance(value.type, RefType) and RefType(value.type).is_row_major for value in given)
        and all(isinstance(op.opview, WriteOp) and IN_PLACE in op.attributes for op in ops[2:])
        and all(module.region(op) is not None if _is_call(op) else names_memory(op) for op in host)
        and {position(value) for op in of_class(host, func.CallOp) for value in op.operands} == {*range(len(given))}
    )


def position(value: ir.Value) -> int:
    """The number of the argument in whose memory `value` lies, by ops that only name it."""
    while (op := producer(value)) is not None:
        value = op.operands[0]
    return ir.BlockArgument(value).arg_number


def names_memory(op: ir.Operation) -> bool:
    """Whether `op`, of a host function that writes nothing, runs nothing: it only names memory that is there."""
    match op.opview:
        case OwnOp() as own:
            return lies_as_stated(own)
        case DestinationOp() as destination:
            return destination.proof_name != "none"
    return op.name in (LOAD, ReadOp.OPERATION_NAME)


def _is_call(op: ir.Operation) -> bool:
    return op.name == func.CallOp.OPERATION_NAME


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
