"""A module at level `regions` (or any after the split) as a Python callable."""

import functools
from collections.abc import Callable, Mapping

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python.emitter import Emitter, Source
from dovetail.backends.python.memory import reused
from dovetail.dialects.attributes import BACKWARD, CURRENT_DEVICE, FORWARD
from dovetail.dialects.control_flow import subgraphs
from dovetail.dialects.dovetail import AllocOp, FreeOp, SetMetadataOp, TouchOp, WriteOp
from dovetail.dialects.memory.named_memory import names_memory
from dovetail.dialects.reading import Module, Role, body, of_class, referred, symbol
from dovetail.dialects.statements.devices import home
from dovetail.dialects.statements.regions import destinations
from dovetail.dialects.statements.stated import stated
from dovetail.errors import AliasMismatch, ModuleError
from dovetail.runtime.autograd.border import Border
from dovetail.runtime.autograd.node import make_border
from dovetail.runtime.autograd.read_border import read_border
from dovetail.runtime.autograd.read_layouts import read_layouts
from dovetail.runtime.autograd.read_partial_backward import read_partial_backward
from dovetail.runtime.autograd.read_replay import read_replay
from dovetail.runtime.autograd.writing import Writing
from dovetail.runtime.checks.read_guard import read_guard
from dovetail.runtime.cuda import torch_streams
from dovetail.runtime.cuda.read_recordable import recorded_halves
from dovetail.runtime.cuda.transients import reservation
from dovetail.runtime.host import HELPERS, HOST_HELPERS, below_autograd, taking_any, unboxed
from dovetail.runtime.read_updates import with_updates
from dovetail.runtime.subclasses.boundary import with_subclasses
from dovetail.runtime.subclasses.read_boundary import read_boundary


def load_program(
    module: ir.Module, executables: Mapping[str, Callable], recorded: bool = False
) -> tuple[Callable, list[Source]]:
    """Like `load_plain_program`, but with the wrapper subclasses that the caller passes and gets."""
    program, sources = load_plain_program(module, executables, recorded)
    boundary = read_boundary(Module(module))
    return program if boundary is None else with_subclasses(boundary, program), sources


def load_plain_program(
    module: ir.Module, executables: Mapping[str, Callable], recorded: bool = False
) -> tuple[Callable, list[Source]]:
    """Returns `@call` as a function of one list (which it empties), and the Python sources it is made of.

    `executables` runs the regions, by symbol, as `executable(*inputs, *destinations)`; a region that is not in it runs
    op by op through ATen. With `recorded`, on a GPU, the halves are replayed as CUDA graphs. Everything else is read
    from the IR.
    """
    found = Module(module)
    bindings: dict[str, Callable] = {}
    layouts = read_layouts(found)
    sources: list[Source] = []
    written = of_class(body(found.call), WriteOp, TouchOp, SetMetadataOp)
    writing = Writing() if written and found.borders else None

    are_compiled = found.regions.keys() <= executables.keys()
    reserve = functools.partial(reservation, executables, home(module))
    host_helpers: dict[str, Callable] = {**HOST_HELPERS, "reserve": reserve}
    if are_compiled:
        host_helpers["reused"] = reused

    def emit(name: str, helpers: Mapping[str, Callable] = host_helpers) -> Callable:
        has_layouts = layouts is not None and name in found.of(Role.BACKWARD)
        source = Emitter(found.functions[name], bindings, helpers, has_layouts).emit()
        sources.append(source)
        return source.load()

    bindings |= {name: read_guard(op).check for name, op in found.guards.items()}
    for name, region in found.regions.items():
        run = executables.get(name)
        bindings[name] = unboxed(emit(name, HELPERS)) if run is None else taking_any(run, destinations(region))
    for name in subgraphs(module):
        bindings[name] = emit(name)
    runs = {name: emit(name) for name in found.of(Role.FORWARD, Role.BACKWARD)}
    for name, run in (recorded_halves(found, runs, executables) if recorded else runs).items():
        unseen = not recorded and all(_is_unseen(op, executables) for op in body(found.functions[name]))
        bindings[name] = run if unseen else below_autograd(run)
    for name, op in found.borders.items():
        forward, backward = _half(found, op, FORWARD, Role.FORWARD), _half(found, op, BACKWARD, Role.BACKWARD)
        halves = found.functions[forward], found.functions[backward]
        facts = read_border(op, *halves, found, layouts)
        replay = read_replay(op, *halves, found)
        partial = read_partial_backward(halves[1], len(facts.saved), found)
        node = make_border(facts, bindings[forward], bindings[backward], partial, replay, writing)
        bindings[name] = node if writing is None else writing.apply(node, _refusal(facts))
    entry = emit(symbol(found.call), HELPERS)
    if writing is not None:
        entry = writing.finish(entry)
    elif not recorded:
        entry = with_updates(found, executables, entry)
    return _on_current_device(module, entry), sources


def _on_current_device(module: ir.Module, function: Callable) -> Callable:
    """`function`, which raises AliasMismatch, before anything ran, if another GPU is current than the module states."""
    if CURRENT_DEVICE not in module.operation.attributes:
        return function
    number = stated(module.operation, CURRENT_DEVICE, ir.IntegerAttr)

    def run(arguments: list):
        current = torch_streams.current_device()
        if current != number:
            raise AliasMismatch(f"the current GPU is cuda:{current}, the program makes tensors on cuda:{number}")
        return function(arguments)

    return run


def _is_unseen(op: ir.Operation, executables: Mapping[str, Callable]) -> bool:
    """Whether autograd and autocast have nothing to do with `op`."""
    if isinstance(op.opview, func.CallOp):
        return referred(op, "callee") in executables
    return names_memory(op) or isinstance(op.opview, AllocOp | FreeOp | func.ReturnOp)


def _half(found: Module, border: func.FuncOp, attribute: str, wanted: Role) -> str:
    """The symbol of the forward or the backward that `border` names."""
    name, valid = referred(border, attribute), found.of(wanted)
    if name not in valid:
        names = ", ".join(f"'@{each}'" for each in valid) or "none"
        raise ModuleError(f"{border.location}: '{attribute}' names '@{name}', expected a {wanted.value}: {names}")
    return name


def _refusal(border: Border) -> str | None:
    """Why a call that writes its arguments runs eagerly inside of hooks, which see what eager has written by then."""
    if border.written_last is not None:
        return f"{border.written_last}: writes an argument when everything is saved, inside of saved-tensor hooks"
    return None if border.saved else "a call that writes an argument saves nothing, inside of saved-tensor hooks"
