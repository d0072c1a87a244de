"""A module at level `regions` (or any after the split) as a Python callable."""

from collections.abc import Callable, Mapping

import torch
from torch_mlir import ir

from dovetail.backends.python.emitter import Emitter, Source
from dovetail.backends.python.tensors import WRITES, in_rows, laid_out, with_strides
from dovetail.dialects.attributes import BACKWARD, FORWARD
from dovetail.dialects.control_flow import subgraphs
from dovetail.dialects.dovetail import SetMetadataOp, TouchOp, WriteOp
from dovetail.dialects.reading import Module, Role, body, of_class, referred, symbol
from dovetail.runtime.autograd.border import Border
from dovetail.runtime.autograd.interrupted import Interrupted
from dovetail.runtime.autograd.node import make_border
from dovetail.runtime.autograd.partial_backward import PartialBackward
from dovetail.runtime.autograd.read_border import read_border
from dovetail.runtime.autograd.replay import Replay
from dovetail.runtime.guard import make_guard
from dovetail.runtime.launch import prepare
from dovetail.runtime.stats import count_copy
from dovetail.runtime.subclasses.boundary import with_subclasses


def load_program(module: ir.Module, executables: Mapping[str, Callable]) -> tuple[Callable, list[Source]]:
    """Like `load_plain_program`, but with the wrapper subclasses that the caller passes and gets."""
    program, sources = load_plain_program(module, executables)
    return with_subclasses(Module(module), program), sources


def load_plain_program(module: ir.Module, executables: Mapping[str, Callable]) -> tuple[Callable, list[Source]]:
    """Returns `@call` as a function of one list (which it empties), and the Python sources it is made of.

    `executables` runs the regions, by symbol, as `executable(*inputs, *destinations)`; a region that is not in it runs
    op by op through ATen. Everything else is read from the IR.
    """
    found = Module(module)
    bindings: dict[str, Callable] = {}
    sources: list[Source] = []
    written = of_class(body(found.call), WriteOp, TouchOp, SetMetadataOp)
    interrupted = Interrupted() if written else None

    def emit(name: str, helpers: Mapping[str, Callable] = _HOST_HELPERS) -> Callable:
        source = Emitter(found.functions[name], bindings, helpers).emit()
        sources.append(source)
        return source.load()

    bindings |= {name: make_guard(op) for name, op in found.guards.items()}
    for name in found.regions:
        bindings[name] = executables[name] if name in executables else unboxed(emit(name, _HELPERS))
    for name in subgraphs(module):
        bindings[name] = emit(name)
    for name in found.of(Role.FORWARD, Role.BACKWARD):
        bindings[name] = _below_autograd(emit(name))
    for name, op in found.borders.items():
        forward, backward = referred(op, FORWARD), referred(op, BACKWARD)
        halves = found.functions[forward], found.functions[backward]
        facts = read_border(op, *halves)
        [call] = found.calls()[name]
        replay = Replay(call, *halves, found.functions)
        partial = PartialBackward(module, halves[1], len(facts.saved), found.functions)
        node = make_border(facts, bindings[forward], bindings[backward], partial, replay, interrupted)
        bindings[name] = node if interrupted is None else interrupted.apply(node, _refusal(facts))
    entry = emit(symbol(found.call), _HELPERS)
    return (entry if interrupted is None else interrupted.finish(entry)), sources


def _refusal(border: Border) -> str | None:
    """Why a call that writes its arguments runs eagerly inside of hooks, which see what eager has written by then."""
    if border.written_last is not None:
        return f"{border.written_last}: writes an argument when everything is saved, inside of saved-tensor hooks"
    return None if border.saved else "a call that writes an argument saves nothing, inside of saved-tensor hooks"


def _below_autograd(function: Callable) -> Callable:
    """What is computed inside is autograd's business nowhere: the border is.

    Not even views are tracked, since what is handed out must not look like a view of something hidden; and autocast,
    which was traced, must not be applied to the library calls again.
    """

    def run(arguments: list):
        with torch._C._AutoDispatchBelowADInplaceOrView(), torch._C._DisableAutocast():
            return function(arguments)

    return run


def _with_strides(tensor: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    made = with_strides(tensor, strides)
    if made is not tensor:
        count_copy("result in another memory layout than eager's")
    return made


def _counted(write: Callable) -> Callable:
    def run(ref: torch.Tensor, value: torch.Tensor) -> None:
        count_copy("value into a mutated input")
        write(ref, value)

    return run


def _ready(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor`, or a copy of it that a compiled region can take."""
    prepared = prepare(tensor)
    if prepared is not tensor:
        count_copy("region input neither contiguous nor aligned")
    return prepared


def _destination(argument: torch.Tensor) -> torch.Tensor:
    """The argument's own memory, or a copy of it where a compiled region can't take it."""
    prepared = prepare(argument)
    if prepared is not argument:
        count_copy("mutated input that is not aligned")
    return prepared


def _copy(value: torch.Tensor) -> torch.Tensor:
    count_copy("value in memory of its own")
    return value.clone()


def _laid_out(operand: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    made = laid_out(operand, strides)
    if made.data_ptr() != operand.data_ptr():
        count_copy("operand in another memory layout than eager's")
    return made


def _in_rows(operand: torch.Tensor) -> torch.Tensor:
    made = in_rows(operand)
    if made is not operand:
        count_copy("operand of a kernel that needs its last dimension contiguous")
    return made


def _copied(argument: torch.Tensor) -> torch.Tensor:
    count_copy("mutated input of a region that was not compiled")
    return argument.clone(memory_format=torch.contiguous_format)


def unboxed(function: Callable) -> Callable:
    """A region as its callers write it: the arguments themselves, and one result alone."""

    def run(*arguments):
        results = function(list(arguments))
        return results[0] if len(results) == 1 else results

    return run


# What the host's functions call beside regions and ATen, counted; regions that run op by op get no `ready` arguments.
_HELPERS: Mapping[str, Callable] = {
    "with_strides": _with_strides,
    "destination": _destination,
    "copied": _copied,
    "copy": _copy,
    "laid_out": _laid_out,
    "in_rows": _in_rows,
    **{f"write_{mode}": _counted(write) for mode, write in WRITES.items()},
}
_HOST_HELPERS: Mapping[str, Callable] = {"ready": _ready, **_HELPERS}
