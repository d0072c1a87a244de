"""Reads a program that only updates its arguments, by regions that have plans, as `Updates`."""

from collections.abc import Callable, Mapping, Sequence
from itertools import repeat

import torch
from torch_mlir.dialects import func

from dovetail.dialects.attributes import ONLY_UPDATES
from dovetail.dialects.dovetail import WriteOp
from dovetail.dialects.memory.roots import argument_number
from dovetail.dialects.reading import Module, arguments, body, of_class, referred
from dovetail.dialects.statements.devices import home
from dovetail.runtime.checks.read_guard import read_guard
from dovetail.runtime.cuda.launches import Launches
from dovetail.runtime.cuda.plan import Plan
from dovetail.runtime.extension import extension
from dovetail.runtime.updates import Run, Updates


def with_updates(module: Module, executables: Mapping[str, Callable], program: Run) -> Run:
    """`program`, which runs `@call`, as `Updates` if the IR says that it only updates, and plans launch all regions."""
    if ONLY_UPDATES not in module.call.attributes:
        return program
    [guard] = module.guards.values()
    check, count = read_guard(guard).of_addresses, len(arguments(module.call))
    launches = of_class(body(module.forward), func.CallOp)
    positions = [tuple(map(argument_number, op.operands)) for op in launches]
    runs = [executables.get(referred(op, "callee")) for op in launches]
    launch = None if check is None else _launch_of(runs, positions, count, check, home(module.operation))
    if launch is None:
        return program
    writes = [op.opview for op in of_class(body(module.call), WriteOp)]
    moved = [index for op in writes for index in repeat(argument_number(op.ref), op.version_count)]
    return Updates(launch, moved, program)


def _launch_of(
    runs: Sequence[Callable | None],
    positions: Sequence[tuple[int, ...]],
    count: int,
    check: Callable[[bytes], None],
    device: str,
) -> Callable[[list], bool] | None:
    """What `runs` the regions on a list of so many tensors, each on those at its `positions`; None without plans."""
    launch = extension()
    if launch is None:
        return None
    if all(isinstance(run, launch.Plan) for run in runs):
        return launch.Launches(tuple(zip(runs, positions, strict=True)), count, check)
    plans = [run for run in runs if isinstance(run, Plan)]
    if len(plans) < len(runs):
        return None
    return Launches([*zip(plans, positions, strict=True)], count, check, torch.device(device).index)
