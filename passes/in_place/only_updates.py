"""Whether all that a program does is to update its arguments in place."""

from torch_mlir.dialects import func

from dovetail.dialects.attributes import IN_PLACE
from dovetail.dialects.dovetail import RefType, WriteOp
from dovetail.dialects.memory.named_memory import names_memory
from dovetail.dialects.memory.roots import argument_number
from dovetail.dialects.reading import Module, Role, arguments, body, of_class, returned


def only_updates(module: Module) -> bool:
    """Whether all that `@call` does is to have its arguments checked, and updated by regions that take nothing else.

    They lie row by row, of known sizes, and each is passed to a region. That writes are in place, their proofs say.
    """
    if Role.FORWARD not in module or len(module.guards) != 1 or returned(module.call):
        return False
    given, [*ops, _], [*host, _] = arguments(module.call), body(module.call), body(module.forward)
    if not all(isinstance(op.opview, func.CallOp) and list(op.operands) == given for op in ops[:2]):
        return False
    launches = of_class(host, func.CallOp)
    return (
        [module.callee(op) for op in ops[:2]] == [*module.guards.values(), module.forward]
        and all(isinstance(value.type, RefType) and RefType(value.type).is_row_major for value in given)
        and all(isinstance(op.opview, WriteOp) and IN_PLACE in op.attributes for op in ops[2:])
        and all(module.region(op) is not None if op in launches else names_memory(op) for op in host)
        and {argument_number(value) for op in launches for value in op.operands} == {*range(len(given))}
    )
