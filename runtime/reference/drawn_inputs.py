"""Inputs for one run of a module, drawn at random: of the types that it declares, lying in memory as it expects."""

from collections.abc import Mapping, Sequence
from itertools import chain

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python.emitter import check_body
from dovetail.dialects.attributes import ROLE, SYMBOL
from dovetail.dialects.dovetail import RefType
from dovetail.dialects.reading import Module, Role, argument_fact, arguments, body, made_by, referred, symbol
from dovetail.dialects.statements.devices import CPU, home
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.ops import Kind, aten_name, row
from dovetail.dialects.torch_facts.row import Kernel
from dovetail.dialects.torch_facts.types import shaped_info
from dovetail.errors import ModuleError
from dovetail.runtime.checks.guard import Guard, extent_of
from dovetail.runtime.checks.read_guard import read_guard
from dovetail.runtime.reference.drawn_sizes import drawn_symbols, layout
from dovetail.runtime.reference.on_host import runnable

_INDEXING = (Kernel.INDEXING, Kernel.POOLING)
"""Kernels that take positions."""


def random_inputs(module: ir.Module, seed: int = 0, *, is_wide: bool = False) -> list:
    """Inputs of the types that the entry function declares; integers are 0 or 1, so that they can index anything.

    They share memory as the module's guard says, and lie where it runs. With `is_wide`, half of all integers are small,
    the others from the whole range of their type, so that they overflow, unless the module may index by one.
    """
    generator, module = torch.Generator("cpu").manual_seed(seed), runnable(module)
    ops = chain.from_iterable(Module(module).bodies.values())
    is_wide, entry = is_wide and not any(map(_may_index, ops)), entry_of(module)
    inputs = []
    symbols = drawn_symbols(entry, generator)
    for index, value in enumerate(arguments(entry)):
        type_, stated = value.type, argument_fact(entry, index, SYMBOL)
        try:
            number = None if stated is None else symbols[stated.value]
            inputs.append(drawn(value, symbols, generator, home(module), is_wide) if number is None else number)
        except RuntimeError as error:
            where = f"{entry.location}: argument {index} of '@{symbol(entry)}'"
            raise ModuleError(f"{where} is of {type_}, of which no tensor can be made and filled: {error}") from error
    return arranged(module, inputs)


def arranged(module: ir.Module, inputs: Sequence) -> list:
    """These inputs, those that the module's guard knows lying in memory as it says."""
    inputs, entry = list(inputs), entry_of(module)
    guards = Module(module).guards
    for op in body(entry):
        if isinstance(op.opview, func.CallOp) and referred(op.opview, "callee") in guards:
            guard = read_guard(guards[referred(op.opview, "callee")])
            positions = [arguments(entry).index(value) for value in op.operands]
            for position, tensor in zip(
                positions, _lying(guard, [inputs[position] for position in positions]), strict=True
            ):
                inputs[position] = tensor
    return inputs


def _lying(guard: Guard, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """These tensors, lying in memory as `guard` expects; where they overlap, the later ones' values stay."""
    found = list(tensors)
    for index, offset in guard.offsets:
        like = tensors[index]
        memory = torch.zeros(offset + extent_of(like) // like.itemsize, dtype=like.dtype, device=like.device)
        found[index] = memory.as_strided(like.shape, like.stride(), offset).copy_(like)
    for group in guard.groups:
        nbytes = max(member.start + extent_of(tensors[member.index]) for member in group) + 16
        memory = torch.zeros(nbytes, dtype=torch.uint8, device=tensors[group[0].index].device)
        objects: dict[int, torch.Tensor] = {}
        roots: dict[int, torch.Tensor] = {}
        for member in group:
            like = tensors[member.index]
            flat = memory[: memory.numel() // like.itemsize * like.itemsize].view(like.dtype)
            root = roots.setdefault(member.root, flat.detach())
            view = root.as_strided(like.shape, like.stride(), member.start // like.itemsize).copy_(like)
            found[member.index] = objects.setdefault(member.same, view)
    return found


def entry_of(module: ir.Module) -> func.FuncOp:
    """The function of `module` that the user would call; raises ModuleError where it has none that can be run."""
    found = Module(module)
    for op in found.of(Role.JOINT, Role.CALL).values():
        check_body(op)
        return op
    names = ", ".join(f"@{function}" for function in found.functions) or "none"
    raise ModuleError(f'expected a function of \'{ROLE}\' "joint" or "call" to run, got {names}')


def drawn(value: ir.Value, symbols: Mapping[int, int], generator: torch.Generator, own: str, is_wide: bool = False):
    """A tensor for a ref, the same on each device, and 1 for a number; `own` is where refs lie that name none."""
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


def _may_index(op: ir.Operation) -> bool:
    """Whether `op` may take integers for positions: a gather, a scatter, a pooling, and whatever has no row."""
    if aten_name(op) is None or (row(op).kind is not Kind.UNKNOWN and row(op).kernel not in _INDEXING):
        return False
    listed = [made.operands if (made := made_by(value, LIST)) else [value] for value in op.operands]
    infos = [info for values in listed for value in values if (info := shaped_info(value.type))]
    return any(info.is_integer for info in infos)
