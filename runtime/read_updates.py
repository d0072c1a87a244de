"""Reads whether all that a program does is to update its arguments in place, by regions that have plans."""

from collections.abc import Callable, Mapping
from itertools import repeat

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python.memory import lies_as_stated
from dovetail.dialects.attributes import IN_PLACE
from dovetail.dialects.dovetail import DestinationOp, OwnOp, ReadOp, RefType, WriteOp
from dovetail.dialects.reading import Module, Role, arguments, body, of_class, producer, referred, returned
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.runtime.extension import extension
from dovetail.runtime.read_guard import read_guard
from dovetail.runtime.updates import Run, Updates


def with_updates(module: Module, executables: Mapping[str, Callable], program: Run) -> Run:
    """`program`, which runs `@call`, as `Updates` if all that it does are launches of plans that update arguments."""
    launch = extension()
    if launch is None or len(module.guards) != 1 or not _only_updates(module):
        return program
    check = read_guard(*module.guards.values()).of_addresses
    launches = of_class(body(module.forward), func.CallOp)
    runs = [executables.get(referred(op, "callee")) for op in launches]
    if check is None or not all(isinstance(run, launch.Plan) for run in runs):
        return program
    positions = [tuple(map(_position, op.operands)) for op in launches]
    count = len(arguments(module.call))
    if set().union(*positions) != {*range(count)}:
        return program
    writes = [op.opview for op in of_class(body(module.call), WriteOp)]
    moved = [index for op in writes for index in repeat(_position(op.ref), op.version_count)]
    return Updates(launch.Launches(tuple(zip(runs, positions, strict=True)), count, check), moved, program)


def _only_updates(module: Module) -> bool:
    """Whether `@call` has its arguments checked and updated, and `@forward` only launches the regions for that."""
    if len(module.of(Role.FORWARD)) != 1 or returned(module.call):
        return False
    ops, given, host = body(module.call), arguments(module.call), body(module.forward)
    if not all(isinstance(each.type, RefType) and RefType(each.type).is_row_major for each in given):
        return False
    callees = [module.callee(op) for op in ops[:2] if isinstance(op.opview, func.CallOp)]
    if callees != [*module.guards.values(), module.forward] or any(list(op.operands) != given for op in ops[:2]):
        return False
    if not all(map(_is_update, ops[2:-1])) or not all(_is_launched(op, module) for op in host[:-1]):
        return False
    # What the writes find is in place: each result lies in the argument that it is written to, and there are no others.
    results = dict(zip(ops[1].results, map(_position, returned(module.forward)), strict=True))
    written = [results.get(op.opview.value) for op in ops[2:-1]]
    updated = {_position(op.results[0]) for op in of_class(host, DestinationOp)}
    return written == [_position(op.opview.ref) for op in ops[2:-1]] and updated == set(written)


def _is_update(op: ir.Operation) -> bool:
    return isinstance(op.opview, WriteOp) and IN_PLACE in op.attributes


def _is_launched(op: ir.Operation, module: Module) -> bool:
    """Whether `op` is a launch, or only names memory of an argument."""
    match op.opview:
        case func.CallOp():
            return module.region(op) is not None
        case OwnOp() as own:
            return lies_as_stated(own)
        case DestinationOp() as destination:
            return destination.proof_name != "none"
    return op.name in (LOAD, ReadOp.OPERATION_NAME)


def _position(value: ir.Value) -> int:
    """The number of the argument in whose memory `value` lies, by ops that only name it."""
    while (op := producer(value)) is not None:
        value = op.operands[0]
    return ir.BlockArgument(value).arg_number
