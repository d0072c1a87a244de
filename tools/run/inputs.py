"""What `dovetail-run` passes to a module: checked against its types before anything runs."""

from collections.abc import Mapping, Sequence

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import RefType
from dovetail.errors import InputError
from dovetail.runtime.reference import arranged, random_inputs
from dovetail.tools.run.values import parse_value, type_text

_NUMBERS = {"!torch.int": int, "!torch.float": float, "!torch.bool": bool}


def make_inputs(module: ir.Module, entry: func.FuncOp, given: Sequence[str], seed: int) -> list:
    """The inputs of `entry`: those given as text, all of them, or random ones if there are none.

    Raises:
        InputError: for a wrong number of inputs, or one of another shape or element type, naming it.
    """
    if not given:
        return random_inputs(module, seed)
    names = input_names(entry)
    if len(given) != len(names):
        listed = f": {', '.join(names)}" if names else ""
        raise InputError(f"expected {len(names)} inputs{listed}; got {len(given)}")
    inputs = [_input(name, text, type_) for name, text, type_ in zip(names, given, entry.type.inputs, strict=True)]
    lying = arranged(module, inputs)
    for name, before, after in zip(names, inputs, lying, strict=True):
        if isinstance(before, torch.Tensor) and not same_bits(before, after):
            raise InputError(f"{name}: shares memory with another input in this module, which has other values there")
    return lying


def input_names(entry: func.FuncOp) -> list[str]:
    """What messages call the inputs: `input 0 (L['x'])`, the name in brackets being the user's where the IR has it."""
    names = []
    for index, facts in enumerate(argument_facts(entry)):
        name = f" ({ir.StringAttr(facts['dovetail.name']).value})" if "dovetail.name" in facts else ""
        names.append(f"input {index}{name}")
    return names


def argument_facts(entry: func.FuncOp) -> list[Mapping[str, ir.Attribute] | ir.DictAttr]:
    """The attributes of each argument."""
    if "arg_attrs" not in entry.attributes:
        return [{} for _ in entry.type.inputs]
    return [ir.DictAttr(each) for each in ir.ArrayAttr(entry.attributes["arg_attrs"])]


def _input(name: str, text: str, type_: ir.Type) -> torch.Tensor | int | float | complex:
    try:
        value = parse_value(text)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    if not isinstance(type_, RefType):
        kind = _NUMBERS[str(type_)]
        if type(value) is not kind:
            raise InputError(f"{name}: expected a number of type {kind.__name__}, got {text}")
        return value
    info, dtype = type_.info, getattr(torch, type_.info.dtype)
    expected = type_text(info.shape, dtype)
    if not isinstance(value, torch.Tensor):
        raise InputError(f"{name}: expected {expected}, got the number {text}")
    if tuple(value.shape) != info.shape or value.dtype != dtype:
        raise InputError(f"{name}: expected {expected}, got {type_text(tuple(value.shape), value.dtype)}")
    return torch.empty_strided(info.shape, type_.strides, dtype=dtype).copy_(value)


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors of one shape and element type hold the same bytes, NaN and the sign of zero included."""
    flat = (each.detach().resolve_conj().resolve_neg().reshape(-1).view(torch.uint8) for each in (one, other))
    return torch.equal(*flat)
