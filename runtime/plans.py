"""Loads launch plans: regions that run on torch's own threads, without IREE's runtime (docs/launch-plans.md)."""

import functools
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch_mlir.dialects import func

from dovetail.backends.launch_plans import LaunchPlan
from dovetail.backends.target import ALIGNMENT
from dovetail.dialects.attributes import PLAN
from dovetail.dialects.plans import check_code, digest
from dovetail.dialects.reading import referred
from dovetail.dialects.regions import destinations
from dovetail.dialects.target import device_type
from dovetail.dialects.torch_facts.sizes import print_sizes
from dovetail.dialects.torch_facts.types import ShapedInfo, shaped_info
from dovetail.errors import LaunchError, OptionError
from dovetail.runtime.cuda.library import check_on_gpu
from dovetail.runtime.cuda.open_plan import CudaPlan
from dovetail.runtime.cuda.read_plan import load_cuda_plan
from dovetail.runtime.extension import extension, unusable
from dovetail.runtime.launch import Executable, ready
from dovetail.runtime.misfits import misfit
from dovetail.runtime.plan_reader import OPERATIONS, PlanReader
from dovetail.runtime.plan_records import Copy, Dispatch, Fill, Step

if TYPE_CHECKING:
    from dovetail.runtime import _launch

Planned: TypeAlias = "_launch.Plan | CudaPlan"
"""What runs a region by its plan."""

Launcher: TypeAlias = "Executable | _launch.Plan | CudaPlan"
"""What runs a region: its plan, or IREE's runtime."""

WAYS = ("plans", "iree.runtime")
"""What `DOVETAIL_LAUNCH` may say: plans where there are any, the default, or none."""

# DLPack's numbers of kinds of element, by the start of PyTorch's names.
_TYPE_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "complex": 5, "bool": 6}
_DISPATCH, _FILL, _COPY = range(3)

_libraries: weakref.WeakValueDictionary[str, "_launch.Library"] = weakref.WeakValueDictionary()
_loading = threading.Lock()


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


def unloadable(plan: LaunchPlan, device: str) -> str:
    """Why the code of `plan` can't be loaded here, for the type of device `device`; "" if it can.

    Code for a GPU that this machine lacks can't be tried, and counts as loadable.
    """
    try:
        if device == "cuda":
            check_on_gpu(plan.code, (step["entry"] for step in plan.steps["steps"] if step["op"] == "dispatch"))
        else:
            load_library(plan.code)
    except (OSError, ValueError, LaunchError) as error:
        return f"the code {error}"
    return ""


def load_library(code: bytes) -> "_launch.Library":
    """The executable `code`, loaded once for all plans of it that are in use.

    Raises:
        OSError, ValueError: if it can't be loaded, or is none that a plan can use.
    """
    launch = extension()
    if launch is None:
        raise ValueError(unusable())
    key = digest(code)
    with _loading:
        library = _libraries.get(key)
        if library is None:
            library = _libraries[key] = launch.Library(code)
        return library


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
    if device_type(plan.operation.parent) == "cuda":
        return load_cuda_plan(plan, code)
    from dovetail.runtime import _launch

    check_code(plan, code)
    name = referred(plan, PLAN)
    infos = tuple(shaped_info(argument.type) for argument in plan.arguments)
    misfit = functools.partial(_replaced, name, infos, destinations(plan))
    try:
        reader = PlanReader(plan, ALIGNMENT)
        instructions = tuple((OPERATIONS[operation], *registers) for operation, *registers in reader.instructions)
        numbers = tuple(reader.registers), instructions
        memory = tuple(reader.transients), bytes(reader.constants)
        arguments, steps = map(_argument, infos, destinations(plan)), (_step(*step) for step in reader.steps)
        return _launch.Plan(name, load_library(code), tuple(arguments), *numbers, *memory, tuple(steps), misfit)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"region '{name}': the plan does not fit its code, which {error}") from error


def _step(waits: bool, step: Step) -> tuple:
    """A step as the extension takes it; it `waits` for those before it."""
    match step:
        case Dispatch():
            return _DISPATCH, waits, step.entry, step.workgroups, step.words, step.bindings, 0, 0
        case Fill():
            return _FILL, waits, "", (), (), (step.target,), step.bits, step.width
        case Copy():
            return _COPY, waits, "", (), (), (step.source, step.target), 0, 0


def _argument(info: ShapedInfo | None, is_destination: bool) -> tuple[tuple[int, ...], int, int, bool, bool]:
    """Sizes, -1 where open, element type and bits; whether it is a number, whether a destination."""
    if info is None:
        return (), 0, 0, True, False
    sizes = tuple(-1 if size is None else size for size in info.shape)
    return sizes, _TYPE_CODES[info.dtype.rstrip("0123456789")], info.itemsize * 8, False, is_destination


def _replaced(
    name: str, infos: tuple[ShapedInfo | None, ...], written: tuple[bool, ...], index: int, given: Any
) -> torch.Tensor:
    """A copy of argument `index`, an input that only lies otherwise than expected.

    Raises:
        TypeError, ValueError: saying how it differs from what the region was compiled for.
    """
    info = infos[index]
    if info is None:
        raise misfit(name, index, given, "an int of at most 64 bits")
    is_input = isinstance(given, torch.Tensor) and not written[index]
    if is_input and given.is_cpu and info.fits(given.shape) and given.dtype is getattr(torch, info.dtype):
        return ready(given)
    shape = f"({print_sizes(info.shape)})" if not info.is_static else f"{info.shape}"
    layout = f"contiguous, on the cpu, aligned to {ALIGNMENT} bytes: use prepare()"
    raise misfit(name, index, given, f"torch.{info.dtype}, shape {shape}, {layout}")
