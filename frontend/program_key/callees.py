"""What a node calls, by a name that means the same in every process with this version of PyTorch.

A function in Python that is not PyTorch's has no such name: the capture calls it, and a name does not say what it does.
"""

import functools
import os
import types
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch.fx.node import _get_qualified_name

from dovetail.frontend.program_key.unkeyed import Unkeyed

_PACKAGES = ("torch", "_operator", "math", "builtins")
"""Whose functions are what their name says."""

_TORCH = f"{Path(torch.__file__).parent}{os.sep}"
_BUILT_IN = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GetSetDescriptorType,
)
_NAMESPACES = ("aten", "prims")


def function_name(target: Callable) -> str:
    """The name of a function that a graph calls, an op's overload included.

    Raises:
        Unkeyed: for any but an op of ATen's, a function of PyTorch's own, and Python's operators.
    """
    if isinstance(target, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        name = str(target)
        if (target.namespace if isinstance(target, torch._ops.OpOverload) else name.split(".")[0]) not in _NAMESPACES:
            raise Unkeyed(f"{name} is a custom operator")
        return name
    if isinstance(target, torch._ops.OperatorBase):
        raise Unkeyed(f"{target} has a graph or a function of its own")
    return _function_name(target)


def check_method(name: str) -> None:
    """Raises Unkeyed unless `name` is a method of PyTorch's own on tensors."""
    _check_method(name, getattr(torch.Tensor, name, None))


@functools.cache
def _check_method(name: str, method: Any) -> None:
    if not (isinstance(method, _BUILT_IN) or _is_of_torch(method)):
        raise Unkeyed(f"'{name}' is no method of PyTorch's own")


@functools.cache
def _function_name(target: Callable) -> str:
    described = getattr(target, "__qualname__", None) or repr(type(target).__qualname__)
    if not (isinstance(target, types.BuiltinFunctionType | type) or _is_of_torch(target)):
        raise Unkeyed(f"{described} is a function in Python that is not PyTorch's")
    name = _get_qualified_name(target)
    module, _, attribute = name.rpartition(".")
    module = module or "builtins"
    if module.split(".")[0] not in _PACKAGES or getattr(_found(module), attribute, None) is not target:
        raise Unkeyed(f"{described} can't be found by the name {name}")
    return name


def _found(path: str) -> Any:
    """The module, or the class in one, at `path`; None if there is none."""
    try:
        return import_module(path)
    except ImportError:
        module, _, attribute = path.rpartition(".")
        return getattr(_found(module), attribute, None) if module else None


def _is_of_torch(function: Any) -> bool:
    """Whether a function in Python stands in a file of PyTorch's, whatever it says of itself."""
    return isinstance(function, types.FunctionType) and function.__code__.co_filename.startswith(_TORCH)
