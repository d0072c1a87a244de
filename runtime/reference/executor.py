"""The reference executor: a module at any level runs through ATen, op by op.

What it observes of a run is what the user could: results with their strides, arguments afterwards, gradients. Running
a module before and after a pass on the same inputs validates the pass. A module for a GPU runs there; where there is
none, it runs on the CPU, and whatever it has on GPUs lies there, too.
"""

from bisect import bisect_right
from collections.abc import Sequence
from traceback import walk_tb

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python.emitter import Emitter
from dovetail.backends.python.names import made_name
from dovetail.dialects.control_flow import subgraphs
from dovetail.dialects.dovetail import OwnOp, RefType, TangentOp
from dovetail.dialects.reading import Module, Role, arguments, body, of_class, role
from dovetail.dialects.statements.devices import home
from dovetail.dialects.statements.saved import tangent_results
from dovetail.errors import ModuleError
from dovetail.runtime.autograd.read_layouts import read_layouts
from dovetail.runtime.checks.read_guard import read_guard
from dovetail.runtime.host import HOST_HELPERS, unboxed
from dovetail.runtime.program import load_plain_program
from dovetail.runtime.reference.drawn_inputs import drawn, entry_of
from dovetail.runtime.reference.drawn_sizes import given_symbols
from dovetail.runtime.reference.observation import Observation
from dovetail.runtime.reference.on_host import runnable


def run_reference(module: ir.Module, inputs: list, seed: int = 0) -> Observation:
    """Runs `module` on copies of `inputs`; gradients are those for random tangents.

    Raises:
        NotImplementedError: for an op that can't be called, with its location.
        ModuleError: for one that ATen refuses, with its location.
    """
    module = runnable(module)
    try:
        return _run(module, inputs, seed)
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        position = _failed_op(module, error)
        if position is None:
            raise
        raise ModuleError(f"{position.location}: '{position.name}' op can't be run: {error}") from error


def _failed_op(module: ir.Module, error: Exception) -> ir.Operation | None:
    """The op of `module` whose statement `error` came out of, which names no location; None if that can't be told."""
    met = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    lines = [(name, line) for name, line in met if name.startswith("<dovetail ")]
    if not lines:
        return None
    (name, line), found = lines[-1], Module(module).functions
    named = [op for each, op in found.items() if f"<dovetail {made_name(each)}>" == name and body(op)]
    if len(named) != 1:
        return None
    emitter = Emitter(named[0], dict.fromkeys(found, lambda *_: None), HOST_HELPERS)  # they add statements
    emitter.emit()
    return body(named[0])[bisect_right(emitter.starts, line - 1) - 1]


@torch.enable_grad()
def _run(module: ir.Module, inputs: list, seed: int) -> Observation:
    generator, entry, own = torch.Generator("cpu").manual_seed(seed + 1), entry_of(module), home(module)
    if role(entry) is Role.JOINT:
        made = [op.results[0] for op in body(entry) if isinstance(op.opview, TangentOp)]
        tangents = [drawn(each, given_symbols(entry, inputs), generator, own) for each in made]
        return _run_joint(module, entry, _copies(inputs), tangents, seed)
    found = Module(module)
    passed = _copies(inputs)
    torch.manual_seed(seed)
    results = list(load_plain_program(module, {})[0](list(passed)))
    gradients: list = []
    if Role.BACKWARD in found:
        taken = [value for value in arguments(found.backward) if isinstance(value.type, RefType)]
        tangents = [drawn(value, given_symbols(entry, inputs), generator, own) for value in taken]
        gradients = _run_backward(module, _copies(inputs), tangents, seed)
    return Observation(results, passed, gradients or [None] * len(passed))


def _run_joint(module: ir.Module, entry: func.FuncOp, arguments: list, tangents: list, seed: int) -> Observation:
    bindings = {name: read_guard(op).check for name, op in Module(module).guards.items()}
    for name, op in subgraphs(module).items():
        bindings[name] = Emitter(op, bindings).emit().load()
    torch.manual_seed(seed)
    given: list[Sequence] = [list(tangents)] if tangents else []
    layouts = read_layouts(Module(module))
    if layouts is not None:
        symbols = given_symbols(entry, arguments)
        refs = [op.results[0] for op in of_class(body(entry), OwnOp)]
        owned = [refs.index(op.operands[0]) for op in of_class(body(entry), TangentOp)]
        given.append(layouts(dict(zip(owned, tangents, strict=True)), symbols))
    with torch.no_grad():
        outcome = Emitter(entry, bindings, has_layouts=layouts is not None).emit().load()(list(arguments), *given)
    results, gradients = outcome if tangents else (outcome, [None] * len(arguments))
    return Observation(list(results), arguments, list(gradients))


def _run_backward(module: ir.Module, arguments: list, tangents: list, seed: int) -> list:
    """Calls forward and backward directly, so that hidden results (bases, written values) get tangents too."""
    found = Module(module)
    bindings = {name: unboxed(Emitter(op, {}).emit().load()) for name, op in found.regions.items()}
    for name, op in subgraphs(module).items():
        bindings[name] = Emitter(op, bindings).emit().load()
    layouts = read_layouts(found)
    forward = Emitter(found.forward, bindings).emit().load()
    backward = Emitter(found.backward, bindings, has_layouts=layouts is not None).emit().load()
    named = dict(zip(tangent_results(found.backward), tangents, strict=True))
    told = () if layouts is None else (layouts(named, given_symbols(found.forward, arguments)),)
    torch.manual_seed(seed)
    with torch.no_grad():
        returned = forward(list(arguments))
        saved = len(found.backward.type.inputs) - len(tangents)
        return list(backward([*returned[len(returned) - saved :], *tangents], *told))


def _copies(inputs: list) -> list:
    """Copies that share memory, views and objects among each other as the inputs do."""
    storages: dict[int, torch.UntypedStorage] = {}
    copies: dict[int, torch.Tensor] = {}

    def copied(tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in copies:
            size, stride, offset = tensor.size(), tensor.stride(), tensor.storage_offset()
            storage = storages.setdefault(tensor.untyped_storage()._cdata, tensor.untyped_storage().clone())
            base = torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(storage, offset, size, stride)
            copies[id(tensor)] = base if tensor._base is None else copied(tensor._base).as_strided(size, stride, offset)
        return copies[id(tensor)]

    return [copied(given) if isinstance(given, torch.Tensor) else given for given in inputs]
