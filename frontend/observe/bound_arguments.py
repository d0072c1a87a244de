"""The arguments of a call by the names that the op's schema gives them."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves


def bound(func: object, args: Sequence, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call of `func` by name; those that have no schema are left out."""
    return {argument.name: value for argument, value in zip(schema(func), args, strict=False)} | dict(kwargs)


def schema(func: object) -> Sequence[torch.Argument]:
    """What `func` says of its arguments: nothing if it is no op."""
    return func._schema.arguments if isinstance(func, torch._ops.OpOverload) else ()


def is_written(argument: torch.Argument) -> bool:
    """Whether the schema says that a call writes `argument`."""
    return argument.alias_info is not None and argument.alias_info.is_write


def tensors_in(value: object) -> list[torch.Tensor]:
    """The tensors in an argument: itself, or those of a list."""
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]
