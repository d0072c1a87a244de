"""What `dovetail-run` passes to a module: checked against its types before anything runs."""

from collections.abc import Mapping, Sequence

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import NAME
from dovetail.dialects.dovetail import RefType
from dovetail.dialects.reading import argument_facts
from dovetail.dialects.statements.devices import ref_device
from dovetail.dialects.torch_facts.types import is_torch_type
from dovetail.errors import InputError
from dovetail.runtime.reference.drawn_inputs import arranged, random_inputs
from dovetail.runtime.reference.drawn_sizes import layout
from dovetail.tools.run.sizes import check_sizes
from dovetail.tools.run.values import parse_value, type_text

_NUMBERS = ("int", "float", "bool")


def make_inputs(module: ir.Module, entry: func.FuncOp, given: Sequence[str], seed: int) -> list:
    """The inputs of `entry`: those given as text, all of them, or random ones if there are none.

    Raises:
        InputError: for a wrong number of inputs, one of another shape or element type, or a size that the module does
            not allow, naming it.
    """
    if not given:
        return random_inputs(module, seed)
    names = input_names(entry)
    listed = "".join(f"\n  {name}: {_kind(type_)}" for name, type_ in zip(names, entry.type.inputs, strict=True))
    if len(given) != len(names):
        raise InputError(f"expected {len(names)} inputs, got {len(given)}{':' if names else ''}{listed}")
    values = [_value(name, text) for name, text in zip(names, given, strict=True)]
    for name, value, type_ in zip(names, values, entry.type.inputs, strict=True):
        if not _fits(value, type_):
            raise InputError(f"{name}: expected {_kind(type_)}, got {_kind_of(value)}; the inputs are:{listed}")
    symbols = check_sizes(entry, names, values)
    inputs = [_laid_out(value, each, symbols, module) for value, each in zip(values, entry.arguments, strict=True)]
    lying = arranged(module, inputs)
    for name, before, after in zip(names, inputs, lying, strict=True):
        if isinstance(before, torch.Tensor) and not same_bits(before, after):
            raise InputError(f"{name}: shares memory with another input in this module, which has other values there")
    return lying


def input_names(entry: func.FuncOp) -> list[str]:
    """What messages call the inputs: `input 0 (L['x'])`, the name in brackets being the user's where the IR has it."""
    names = []
    for index, facts in enumerate(argument_facts(entry)):
        name = f" ({ir.StringAttr(facts[NAME]).value})" if NAME in facts else ""
        names.append(f"input {index}{name}")
    return names


def _kind(type_: ir.Type) -> str:
    """What an argument of `type_` takes: `2x3xf32`, `?x3xf32` where a size is open, or `a number of type int`."""
    if isinstance(type_, RefType):
        return type_text(type_.shaped.shape, getattr(torch, type_.shaped.dtype))
    names = [name for name in _NUMBERS if is_torch_type(type_, name)]
    return f"a number of type {names[0]}"


def _fits(value: torch.Tensor | int | float | complex, type_: ir.Type) -> bool:
    if isinstance(value, torch.Tensor) and isinstance(type_, RefType):
        return value.dtype == getattr(torch, type_.shaped.dtype) and type_.shaped.fits(value.shape)
    return _kind_of(value) == _kind(type_)


def _kind_of(value: torch.Tensor | int | float | complex) -> str:
    if isinstance(value, torch.Tensor):
        return type_text(tuple(value.shape), value.dtype)
    return f"a number of type {type(value).__name__}"


def _value(name: str, text: str) -> torch.Tensor | int | float | complex:
    try:
        return parse_value(text)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _laid_out(
    value: torch.Tensor | int | float | complex, argument: ir.Value, symbols: Mapping[int, int], module: ir.Module
) -> torch.Tensor | int | float | complex:
    if not isinstance(value, torch.Tensor):
        return value
    strides, device = layout(argument, symbols)[1], ref_device(argument.type, module)
    return torch.empty_strided(value.shape, strides, dtype=value.dtype, device=device).copy_(value)


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors of one shape and element type hold the same bytes, NaN and the sign of zero included."""
    # A copy has strides that bytes can be viewed by: those of a single element may be any.
    values = (each.detach().resolve_conj().resolve_neg().reshape(-1) for each in (one, other))
    return torch.equal(*(value.clone(memory_format=torch.contiguous_format).view(torch.uint8) for value in values))
