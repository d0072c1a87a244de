"""The arguments of a call as text: all of a tensor that a tensor without memory is made by, and none of its numbers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import count

import torch

from dovetail.frontend.observe.alias_groups import retains_grad, storage
from dovetail.frontend.program_key.unkeyed import NUMBERS, Unkeyed, number_text

_TENSORS = (torch.Tensor, torch.nn.Parameter)


def arguments_text(values: Sequence) -> str:
    """What is known of `values`, one a line: equal numbers stand for one object and for one storage.

    Raises:
        Unkeyed: for what is no number and no plain tensor on the CPU.
    """
    objects, storages = (defaultdict[int, int](count().__next__) for _ in range(2))
    return "\n".join(_text(value, objects, storages) for value in values)


def _text(value: object, objects: Mapping[int, int], storages: Mapping[int, int]) -> str:
    if type(value) in NUMBERS:
        return number_text(value)
    if type(value) not in _TENSORS:
        raise Unkeyed(f"an argument is a {type(value).__qualname__}")
    assert isinstance(value, torch.Tensor)
    if value.layout is not torch.strided or value.device.type != "cpu":
        raise Unkeyed(f"an argument of layout {value.layout} on {value.device}")
    facts = (
        type(value).__name__,
        objects[id(value)],
        storages[storage(value)],
        value.untyped_storage().nbytes(),
        value.dtype,
        tuple(value.size()),
        value.stride(),
        value.storage_offset(),
        value.requires_grad,
        value.is_leaf,
        value.is_inference(),
        value.is_conj(),
        value.is_neg(),
        retains_grad(value),
    )
    if not value._is_view():
        return str(facts)
    made = torch._C._autograd._get_creation_meta(value)
    return f"{facts} view {made} of {_text(value._base, objects, storages)}"
