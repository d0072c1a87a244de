"""Loads launch plans: regions that run on torch's own threads, without IREE's runtime (docs/launch-plans.md)."""

import functools
import threading
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch_mlir.dialects import func

from dovetail.backends.target import ALIGNMENT
from dovetail.dialects.attributes import PLAN
from dovetail.dialects.reading import referred
from dovetail.dialects.statements.plans import check_code, digest
from dovetail.dialects.statements.regions import destinations
from dovetail.dialects.torch_facts.sizes import print_sizes
from dovetail.dialects.torch_facts.types import ShapedInfo, shaped_info
from dovetail.runtime.extension import extension, unusable
from dovetail.runtime.launches.element_types import kind_of
from dovetail.runtime.launches.iree_executable import ready
from dovetail.runtime.launches.misfits import misfit
from dovetail.runtime.launches.plan_reader import OPERATIONS, PlanReader
from dovetail.runtime.launches.plan_records import Copy, Dispatch, Fill, MaybeOpen, Step

if TYPE_CHECKING:
    from dovetail.runtime import _launch

_DISPATCH, _FILL, _COPY = range(3)

_libraries: weakref.WeakValueDictionary[str, "_launch.Library"] = weakref.WeakValueDictionary()
_loading = threading.Lock()


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


def load_cpu_plan(plan: func.FuncOp, code: bytes) -> "_launch.Plan":
    """What runs the region of `plan` on the CPU; raises ValueError as `load_plan`."""
    from dovetail.runtime import _launch

    check_code(plan, code)
    name = referred(plan, PLAN)
    infos = tuple(map(shaped_info, plan.type.inputs))
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


def _step(waits: bool, step: Step[MaybeOpen]) -> tuple:
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
    return sizes, kind_of(info.dtype), info.itemsize * 8, False, is_destination


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
