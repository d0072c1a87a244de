"""Reads a program that only updates its arguments, by regions that have plans, as `Updates`."""

from collections.abc import Callable, Mapping
from itertools import repeat

from torch_mlir.dialects import func

from dovetail.dialects.attributes import ONLY_UPDATES
from dovetail.dialects.dovetail import WriteOp
from dovetail.dialects.memory.roots import argument_number
from dovetail.dialects.reading import Module, arguments, body, of_class, referred
from dovetail.runtime.checks.read_guard import read_guard
from dovetail.runtime.extension import extension
from dovetail.runtime.updates import Run, Updates


def with_updates(module: Module, executables: Mapping[str, Callable], program: Run) -> Run:
    """`program`, which runs `@call`, as `Updates` if the IR says that it only updates, and plans launch all regions."""
    launch = extension()
    if launch is None or ONLY_UPDATES not in module.call.attributes:
        return program
    [guard] = module.guards.values()
    check = read_guard(guard).of_addresses
    launches = of_class(body(module.forward), func.CallOp)
    runs = [executables.get(referred(op, "callee")) for op in launches]
    if check is None or not all(isinstance(run, launch.Plan) for run in runs):
        return program
    positions = [tuple(map(argument_number, op.operands)) for op in launches]
    writes = [op.opview for op in of_class(body(module.call), WriteOp)]
    moved = [index for op in writes for index in repeat(argument_number(op.ref), op.version_count)]
    count = len(arguments(module.call))
    return Updates(launch.Launches(tuple(zip(runs, positions, strict=True)), count, check), moved, program)
