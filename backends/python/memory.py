"""What the memory plan is in Python: allocations, memory used again, the ends of lives."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import torch
import torch._C._dynamo.guards
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import AllocOp, DestinationOp, ReuseOp
from dovetail.dialects.reading import made_by, referred, users
from dovetail.dialects.sizes.products import row_major_products
from dovetail.dialects.statements.devices import CPU
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.dialects.torch_facts.sizes import OpenSize, row_major
from dovetail.dialects.torch_facts.types import is_memory, require_shaped_info, require_tensor_info
from dovetail.errors import ModuleError

if TYPE_CHECKING:
    from dovetail.backends.python.emitter import Emitter

_DELETE = "    del "

allocate = torch._C._dynamo.guards._empty_strided_cpu  # type: ignore[attr-defined]  # PyTorch's stub lacks it
"""Memory on the CPU, by shape, strides in elements and dtype, whatever the default device; no dispatcher is asked."""


Allocate = Callable[[tuple[int, ...], tuple[int, ...], torch.dtype], torch.Tensor]


@functools.cache
def allocator(device: str) -> Callable[[], Allocate]:
    """Tells what is like `allocate`, for memory on `device`, as long as the thread's GPU stays the same.

    On a GPU that is not the thread's, that takes PyTorch's dispatcher.
    """
    home = torch.device(device)

    def dispatched(shape: tuple[int, ...], strides: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        return torch.empty_strided(shape, strides, dtype=dtype, device=home)

    if home.type != "cuda" or not torch.backends.cuda.is_built():
        return lambda: dispatched
    quick, current = torch._C._dynamo.guards._empty_strided_cuda, torch._C._cuda_getDevice  # type: ignore[attr-defined]
    return lambda: quick if current() == home.index else dispatched


def allocate_rows(shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Like `allocate`, row by row, where sizes are known only when the program runs.

    Raises:
        ModuleError: for a negative size, before there is memory.
    """
    if any(size < 0 for size in shape):
        raise ModuleError(f"memory of sizes {list(shape)} can't be: expected sizes from 0 up")
    return allocate(tuple(shape), row_major(shape), dtype)


def reused(dead: torch.Tensor, shape: tuple[int, ...], strides: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """A tensor of `shape` (strides in elements) that starts where the memory of `dead` starts."""
    if dead.dtype is dtype:
        return torch.as_strided(dead, shape, strides, 0)
    return torch.empty(0, dtype=dtype, device=dead.device).set_(dead.untyped_storage(), 0, shape, strides)


def spoil(memory: torch.Tensor) -> None:
    """Overwrites `memory` with NaN, or the largest number: who still needs what lay there gets a wrong value."""
    is_number = memory.dtype.is_floating_point or memory.dtype.is_complex
    is_bool = memory.dtype is torch.bool
    memory.fill_(float("nan") if is_number else True if is_bool else torch.iinfo(memory.dtype).max)


def filled(emitter: Emitter, stated: Iterable[OpenSize], numbers: Iterable[ir.Value]) -> list[str]:
    """Sizes or strides as Python says them; those that are open are the `numbers`, in order."""
    given = iter(numbers)
    return [emitter.name(next(given)) if number is None else str(number) for number in stated]


def emit_alloc(emitter: Emitter, op: AllocOp) -> None:
    _emit_rows(emitter, op, op.device_name or emitter.home)


def _emit_rows(emitter: Emitter, op: AllocOp | ReuseOp, device: str) -> None:
    """Fresh memory for the result of `op`, row by row."""
    info = require_shaped_info(op.memory.type)
    dtype, memory = emitter.bind(info.dtype, getattr(torch, info.dtype)), emitter.name(op.memory)
    if info.is_static:
        emitter.line(f"{memory} = {_allocate(emitter, device)}({_layout(emitter, op.memory)})")
    elif device != CPU:
        empty, home = emitter.bind("empty", torch.empty), emitter.bind("device", torch.device(device))
        shape = ", ".join(filled(emitter, info.shape, op.numbers))
        emitter.line(f"{memory} = {empty}([{shape}], dtype={dtype}, device={home})")
    else:
        _emit_open_rows(emitter, op, dtype)


def _emit_open_rows(emitter: Emitter, op: AllocOp | ReuseOp, dtype: str) -> None:
    stated = require_shaped_info(op.memory.type).shape
    shape, memory = filled(emitter, stated, op.numbers), emitter.name(op.memory)
    strides = row_major_products(stated, op.numbers)
    if strides is None:
        emitter.line(f"{memory} = {emitter.bind('allocate_rows', allocate_rows)}([{', '.join(shape)}], {dtype})")
        return
    texts = [product.text(emitter.name) for product in strides]
    layout = [f"({numbers}{',' * (len(stated) == 1)})" for numbers in map(", ".join, (shape, texts))]
    emitter.line(f"{memory} = {emitter.bind('allocate', allocate)}({', '.join(layout)}, {dtype})")


def emit_reuse(emitter: Emitter, op: ReuseOp) -> None:
    """Memory of the same type is the same tensor.

    On a GPU, PyTorch's allocator gives what has died to who asks next, in half the time that another tensor takes.
    """
    memory, dead = emitter.name(op.memory), emitter.name(op.dead)
    if op.is_shared and "reused" not in emitter.helpers:
        _emit_rows(emitter, op, emitter.home)
        return
    is_same = op.dead.type == op.memory.type or (op.is_shared and _is_alike(emitter, op))
    if not is_same and emitter.home != CPU:
        forget(emitter, op.dead)
        emitter.line(f"{memory} = {_allocate(emitter, emitter.home)}({_layout(emitter, op.memory)})")
        return
    made = dead if is_same else f"{emitter.bind('reused', reused)}({dead}, {_layout(emitter, op.memory)})"
    emitter.line(f"{memory} = {made}")
    if not op.is_shared:
        forget(emitter, op.dead)


def _is_alike(emitter: Emitter, op: ReuseOp) -> bool:
    """Whether memory that is shared has the sizes of what lies there, row by row: open ones have."""
    dead, made = require_shaped_info(op.dead.type), require_shaped_info(op.memory.type)
    known = emitter.buffers.strides.get(op.dead)
    return dead == made and (not made.is_static or known == require_tensor_info(op.memory.type).contiguous_strides)


def _allocate(emitter: Emitter, device: str) -> str:
    """The name of what allocates on `device`; which one does, on a GPU, the function asks once."""
    if device == CPU:
        return emitter.bind("allocate", allocate)
    asked = emitter.bind("allocator", allocator(device))
    made = f"{asked}_now"
    if made not in emitter.allocators:
        emitter.allocators.add(made)
        emitter.line(f"{made} = {asked}()")
    return made


def _layout(emitter: Emitter, memory: ir.Value) -> str:
    """Sizes, strides and type of static memory, as Python says them."""
    info = require_tensor_info(memory.type)
    return f"{info.shape}, {info.contiguous_strides}, {emitter.bind(info.dtype, getattr(torch, info.dtype))}"


def forget(emitter: Emitter, memory: ir.Value) -> None:
    """Deletes the names of `memory` and of its views."""
    names = dict.fromkeys(emitter.name(value) for value in emitter.buffers.by_value[memory].values)
    deleted = ", ".join(names)
    if emitter.lines[-1].startswith(_DELETE):
        emitter.lines[-1] += f", {deleted}"
    else:
        emitter.lines.append(f"{_DELETE}{deleted}")


def emit_destination(emitter: Emitter, op: DestinationOp) -> None:
    is_proved = op.proof_name != "none"
    if is_proved and "ready" in emitter.helpers and emitter.prepared is None:
        emitter.prepared = _prepare_updates(emitter, op.operation.block)
    make = emitter.bound("destination", torch.detach) if is_proved else emitter.bound("copied", torch.Tensor.clone)
    is_asked = is_proved and "are_importable" in emitter.helpers
    if is_asked and op == emitter.run[0].opview:
        _hand_over(emitter)
    indent = "    " if is_asked else ""
    emitter.line(f"{indent}{emitter.name(op.memory)} = {make}({emitter.name(op.ref)})")


def _hand_over(emitter: Emitter) -> None:
    """Arguments that regions update are their own destinations, if all of them can be."""
    ops = [each.opview for each in emitter.run]
    refs = ", ".join(emitter.name(op.ref) for op in ops)
    memory = ", ".join(emitter.name(op.memory) for op in ops)
    emitter.line(f"if {emitter.bind('are_importable', emitter.helpers['are_importable'](emitter.home))}(({refs},)):")
    emitter.line(f"    {memory} = {refs}")
    emitter.line("else:")


def _prepare_updates(emitter: Emitter, block: ir.Block) -> dict[ir.Value, str]:
    """Copies that updates in place need are made before the first of them runs: nothing may fail after it.

    So is memory found for what their regions hold meanwhile.
    """
    prepared: dict[ir.Value, str] = {}
    calls = [op for op in block.operations if isinstance(op, func.CallOp)]
    updating = [op for op in calls if any(made_by(each, DestinationOp.OPERATION_NAME) for each in op.operands)]
    for op in updating:
        for value in op.operands:
            # Memory that the program made for a region, or what lies there, is ready.
            if value not in prepared and made_by(value, LOAD) is None and not is_memory(value):
                prepared[value] = f"ready_{len(prepared)}"
    if prepared:
        ready, given = emitter.bind("ready", emitter.helpers["ready"](emitter.home)), map(emitter.name, prepared)
        emitter.line(f"{', '.join(prepared.values())}, = {ready}({', '.join(given)})")
    if "reserve" in emitter.helpers:
        reserve = emitter.helpers["reserve"]([referred(op.operation, "callee") for op in updating])
        if reserve is not None:
            emitter.line(f"{emitter.bind('reserve', reserve)}()")
    return prepared


def argument(emitter: Emitter, value: ir.Value) -> str:
    """What to pass to a region for `value`."""
    return emitter.prepared[value] if emitter.prepared and value in emitter.prepared else emitter.name(value)


def spoil_results(emitter: Emitter) -> None:
    """A region that runs op by op spoils, first of all, the memory that it only writes.

    A compiled region may write its results before it has read its arguments, so neither may those share memory nor
    may anybody read what lay there before.
    """
    for memory in emitter.arguments:
        if is_memory(memory) and LOAD not in [user.name for user in users(memory)]:
            emitter.line(f"{emitter.bind('spoil', spoil)}({emitter.name(memory)})")
