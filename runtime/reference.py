"""The reference executor: a module at any level runs through ATen, op by op.

What it observes of a run is what the user could: results with their strides, arguments afterwards, gradients. Running
a module before and after a pass on the same inputs validates the pass. A module for a GPU runs there; where there is
none, it runs on the CPU, and whatever it has on GPUs lies there, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python.emitter import Emitter, check_body
from dovetail.dialects.attributes import ROLE, SYMBOL
from dovetail.dialects.control_flow import subgraphs
from dovetail.dialects.devices import CPU, home
from dovetail.dialects.dovetail import OwnOp, RefType, TangentOp
from dovetail.dialects.reading import (
    Module,
    Role,
    argument_fact,
    body,
    made_by,
    of_class,
    referred,
    role,
    symbol,
)
from dovetail.dialects.reading import (
    arguments as arguments_of,
)
from dovetail.dialects.saved import tangent_results
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.ops import Kind, aten_name, row
from dovetail.dialects.torch_facts.types import tensor_info
from dovetail.errors import ModuleError
from dovetail.runtime.autograd.read_layouts import read_layouts
from dovetail.runtime.drawn_sizes import drawn_symbols, given_symbols, layout
from dovetail.runtime.failed_op import failed_op
from dovetail.runtime.host import unboxed
from dovetail.runtime.on_host import runnable
from dovetail.runtime.program import load_plain_program
from dovetail.runtime.read_guard import make_guard, read_guard

# Of library kernels, those that take places.
_INDEXING = ("gather or scatter", "pooling")


@dataclass(frozen=True)
class Observation:
    """What a run of a module shows: its results, its arguments afterwards, and one gradient (or None) an argument."""

    results: list
    arguments: list
    gradients: list

    def differences(self, other: "Observation") -> list[str]:
        """One line for each value, stride or size in which `other` differs, naming it."""
        found: list[str] = []
        for what in ("results", "arguments", "gradients"):
            ours, theirs = getattr(self, what), getattr(other, what)
            if len(ours) != len(theirs):
                found.append(f"{what}: {len(ours)} before, {len(theirs)} after")
                continue
            strides_count = what != "gradients"
            for index, (before, after) in enumerate(zip(ours, theirs, strict=True)):
                difference = _difference(before, after, strides_count)
                if difference:
                    found.append(f"{what}[{index}]: {difference}")
        return found


def random_inputs(module: ir.Module, seed: int = 0, *, is_wide: bool = False) -> list:
    """Inputs of the types that the entry function declares; integers are 0 or 1, so that they can index anything.

    They share memory as the module's guard says, and lie where it runs. With `is_wide`, half of all integers are small,
    the others from the whole range of their type, so that they overflow, unless the module may index by one.
    """
    generator, module = torch.Generator("cpu").manual_seed(seed), runnable(module)
    is_wide, entry = is_wide and not any(map(_may_index, _all_ops(module))), _entry(module)
    inputs = []
    symbols = drawn_symbols(entry, generator)
    for index, value in enumerate(entry.arguments):
        type_, stated = value.type, argument_fact(entry, index, SYMBOL)
        try:
            drawn = (
                _random(value, symbols, generator, home(module), is_wide) if stated is None else symbols[stated.value]
            )
            inputs.append(drawn)
        except RuntimeError as error:
            place = f"{entry.location}: argument {index} of '@{symbol(entry)}'"
            raise ModuleError(f"{place} is of {type_}, of which no tensor can be made and filled: {error}") from error
    return arranged(module, inputs)


def arranged(module: ir.Module, inputs: Sequence) -> list:
    """These inputs, those that the module's guard knows lying in memory as it says."""
    inputs, entry = list(inputs), _entry(module)
    guards = Module(module).guards
    for op in body(entry):
        if isinstance(op.opview, func.CallOp) and referred(op.opview, "callee") in guards:
            guard = read_guard(guards[referred(op.opview, "callee")])
            places = [list(entry.arguments).index(value) for value in op.operands]
            for place, tensor in zip(places, guard.arranged([inputs[place] for place in places]), strict=True):
                inputs[place] = tensor
    return inputs


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
        place = failed_op(module, error)
        if place is None:
            raise
        raise ModuleError(f"{place.location}: '{place.name}' op can't be run: {error}") from error


@torch.enable_grad()
def _run(module: ir.Module, inputs: list, seed: int) -> Observation:
    generator, entry, own = torch.Generator("cpu").manual_seed(seed + 1), _entry(module), home(module)
    if role(entry) is Role.JOINT:
        made = [op.results[0] for op in body(entry) if isinstance(op.opview, TangentOp)]
        tangents = [_random(each, given_symbols(entry, inputs), generator, own) for each in made]
        return _run_joint(module, entry, _copies(inputs), tangents, seed)
    found = Module(module)
    arguments = _copies(inputs)
    torch.manual_seed(seed)
    results = list(load_plain_program(module, {})[0](list(arguments)))
    gradients: list = []
    if Role.BACKWARD in found:
        taken = [each for each in arguments_of(found.backward) if isinstance(each.type, RefType)]
        tangents = [_random(each, given_symbols(entry, inputs), generator, own) for each in taken]
        gradients = _run_backward(module, _copies(inputs), tangents, seed)
    return Observation(results, arguments, gradients or [None] * len(arguments))


def _run_joint(module: ir.Module, entry: func.FuncOp, arguments: list, tangents: list, seed: int) -> Observation:
    bindings = {name: make_guard(op) for name, op in Module(module).guards.items()}
    for name, op in subgraphs(module).items():
        bindings[name] = Emitter(op, bindings).emit().load()
    torch.manual_seed(seed)
    given: list[Sequence] = [list(tangents)] if tangents else []
    layouts = read_layouts(Module(module))
    if layouts is not None:
        given.append(layouts(dict(zip(_owned(entry), tangents, strict=True))))
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
    told = () if layouts is None else (layouts(dict(zip(tangent_results(found.backward), tangents, strict=True))),)
    torch.manual_seed(seed)
    with torch.no_grad():
        returned = forward(list(arguments))
        saved = len(found.backward.type.inputs) - len(tangents)
        return list(backward([*returned[len(returned) - saved :], *tangents], *told))


def _owned(joint: func.FuncOp) -> list[int]:
    """The owned results that the tangents of `@joint` are those of, by number, in the order of the tangents."""
    refs = [op.results[0] for op in of_class(body(joint), OwnOp)]
    return [refs.index(op.operands[0]) for op in of_class(body(joint), TangentOp)]


def _entry(module: ir.Module) -> func.FuncOp:
    found = Module(module)
    for op in found.of(Role.JOINT, Role.CALL).values():
        check_body(op)
        return op
    names = ", ".join(f"@{each}" for each in found.functions) or "none"
    raise ModuleError(f'expected a function of \'{ROLE}\' "joint" or "call" to run, got {names}')


def _all_ops(module: ir.Module) -> Iterator[ir.Operation]:
    for function_op in module.body.operations:
        for block in function_op.operation.regions[0].blocks:
            yield from (op.operation for op in block.operations)


def _may_index(op: ir.Operation) -> bool:
    """Whether `op` may take integers for places: a gather, a scatter, a pooling, and whatever has no row."""
    if aten_name(op) is None or (row(op).kind is not Kind.UNKNOWN and row(op).kernel not in _INDEXING):
        return False
    listed = [value for operand in op.operands for value in _elements(operand)]
    return any(info.dtype.startswith(("int", "uint")) for value in listed if (info := tensor_info(value.type)))


def _elements(value: ir.Value) -> list[ir.Value]:
    """Those of a list of tensors, else the value itself."""
    is_list = made_by(value, LIST) is not None
    return list(value.owner.operands) if is_list else [value]


def _random(value: ir.Value, symbols: Mapping[int, int], generator: torch.Generator, own: str, is_wide: bool = False):
    """The same numbers on each device; `own` is where refs lie that name none."""
    if not isinstance(value.type, RefType):
        return 1
    shape, strides = layout(value, symbols)
    dtype = getattr(torch, value.type.shaped.dtype)
    tensor = torch.empty_strided(shape, strides, dtype=dtype, device=value.type.device or own)
    if dtype.is_floating_point or dtype.is_complex:
        return tensor.copy_(torch.randn(shape, generator=generator, device=CPU))
    small = torch.randint(0, 2, shape, generator=generator, device=CPU)
    if not is_wide or dtype is torch.bool:
        return tensor.copy_(small)
    range_ = torch.iinfo(dtype)
    large = torch.randint(range_.min, range_.max, shape, generator=generator, device=CPU)
    is_large = torch.rand(shape, generator=generator, device=CPU) < 0.5
    return tensor.copy_(torch.where(is_large, large, small))


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

    return [copied(each) if isinstance(each, torch.Tensor) else each for each in inputs]


def _difference(before, after, strides_count: bool) -> str:
    if not isinstance(before, torch.Tensor) or not isinstance(after, torch.Tensor):
        return "" if type(before) is type(after) and before == after else f"{before} before, {after} after"
    if before.shape != after.shape or before.dtype != after.dtype:
        return f"{before.dtype} {tuple(before.shape)} before, {after.dtype} {tuple(after.shape)} after"
    if strides_count and before.numel() and before.stride() != after.stride():
        return f"strides {before.stride()} before, {after.stride()} after"
    try:
        torch.testing.assert_close(after, before, equal_nan=True)
    except AssertionError as error:
        return " ".join(str(error).split())
    return ""
