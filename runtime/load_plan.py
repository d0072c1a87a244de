"""Loads launch plans, which run regions without IREE's runtime, on the CPU or on GPUs (docs/launch-plans.md)."""

import os
from typing import TYPE_CHECKING, Any, TypeAlias

from torch_mlir.dialects import func

from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.dialects.statements.devices import CPU
from dovetail.dialects.statements.target import device_type
from dovetail.errors import LaunchError, OptionError
from dovetail.runtime.cuda.library import check_on_gpu
from dovetail.runtime.cuda.open_plan import CudaPlan
from dovetail.runtime.cuda.read_plan import load_cuda_plan
from dovetail.runtime.extension import unthreaded, unusable
from dovetail.runtime.launches.iree_executable import Executable
from dovetail.runtime.launches.plan_records import Dispatch
from dovetail.runtime.launches.plans import load_cpu_plan, load_library

if TYPE_CHECKING:
    from dovetail.runtime import _launch

Planned: TypeAlias = "_launch.Plan | CudaPlan"
"""What runs a region by its plan."""

Launcher: TypeAlias = "Executable | _launch.Plan | CudaPlan"
"""What runs a region: its plan, or IREE's runtime."""

WAYS = ("plans", "iree.runtime")
"""What `DOVETAIL_LAUNCH` may say: plans where there are any, the default, or none."""


def unavailable(device: str) -> str:
    """Why no plan for the type of device `device` can run in this process; "" if plans can, as on a GPU they always do.

    Raises:
        OptionError: for a way to launch that `WAYS` does not have.
    """
    if device == "cuda":
        return ""
    way = os.environ.get("DOVETAIL_LAUNCH", WAYS[0])
    if way not in WAYS:
        raise OptionError(f"DOVETAIL_LAUNCH={way}: expected one of: {', '.join(WAYS)}")
    return unusable() if way == WAYS[0] else f"DOVETAIL_LAUNCH={way}"


def planned(device: str) -> str:
    """What launches a region that has a plan, as `stats().launches` says it."""
    if device == "cuda":
        return f"plan, step by step from Python: {unusable()}" if unusable() else "plan"
    return f"plan, on one thread: {unthreaded()}" if unthreaded() else "plan"


def unloadable(plan: LaunchPlan, device: str) -> str:
    """Why the code of `plan` can't be loaded onto `device`, in torch's words ("cuda:0"), or does not fit; "" if it can.

    Code for a GPU that this machine lacks can't be tried, and counts as loadable.

    Raises:
        OptionError: for a device that is neither the CPU nor a GPU with its number.
    """
    kind, _, number = device.partition(":")
    if device != CPU and not (kind == "cuda" and number.isdecimal()):
        raise OptionError(f"device '{device}': expected '{CPU}' or a GPU with its number, such as 'cuda:0'")
    try:
        if device == CPU:
            load_library(plan.code)
        else:
            launches = (_launch_of(step) for step in plan.steps["steps"] if step["op"] == "dispatch")
            check_on_gpu(plan.code, launches, int(number))
    except (OSError, ValueError, LaunchError) as error:
        return f"the code {error}"
    return ""


def _launch_of(step: dict[str, Any]) -> Dispatch:
    """What the compiler says of a launch; numbers that are open have names."""
    workgroups, words, bindings = (tuple(step[name]) for name in ("workgroups", "constants", "bindings"))
    threads, shared_bytes = tuple(step.get("workgroup_size", ())), step.get("shared_memory", 0)
    return Dispatch(step["entry"], workgroups, threads, shared_bytes, words, bindings, step.get("sets", 0))


def load_plan(plan: func.FuncOp, code: bytes) -> Planned:
    """What runs the region of `plan`, as `run(*inputs, *destinations)`, on the CPU or the GPU that its module is for.

    On the CPU it returns when the destinations are written, on a GPU it waits for nothing (`runtime/cuda/plan.py`).

    Every tensor must be as the region declares it, destinations importable (`prepare`), and open sizes as the plan
    wants them, else an error names region and argument before anything is written. Numbers are Python's. Inputs that
    lie otherwise are copied, which counts. Calls may come from several threads at once. The result's `library.code` is
    `code`.

    Raises:
        ValueError: if `code` is not what the plan names, or the plan does not fit it.
    """
    load = load_cuda_plan if device_type(plan.operation.parent) == "cuda" else load_cpu_plan
    return load(plan, code)
