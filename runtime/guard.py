"""The check before a call: what the program takes for independent memory is independent."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.calls import MUTATED
from dovetail.dialects.dovetail import RefType
from dovetail.errors import UnsupportedError

_data_ptr = torch.Tensor.data_ptr


@dataclass(frozen=True)
class Guard:
    """A declared guard's facts: each argument's name and its extent in bytes; the first `mutated` ones are written."""

    names: tuple[str, ...]
    extents: tuple[int, ...]
    mutated: int

    def check(self, *tensors: torch.Tensor) -> None:
        """Returns if no mutated tensor shares memory with another one; compares spans of addresses, sorted.

        Raises:
            UnsupportedError: naming the two arguments, before anything ran.
        """
        starts = [_data_ptr(tensor) for tensor in tensors]
        end_of_any, any_index, end_of_mutated, mutated_index = 0, -1, 0, -1
        for index in sorted(range(len(starts)), key=starts.__getitem__):
            start, extent = starts[index], self.extents[index]
            if not extent:
                continue
            is_mutated = index < self.mutated
            if start < (end_of_any if is_mutated else end_of_mutated):
                raise self._refusal(index, any_index if is_mutated else mutated_index)
            if start + extent > end_of_any:
                end_of_any, any_index = start + extent, index
            if is_mutated and start + extent > end_of_mutated:
                end_of_mutated, mutated_index = start + extent, index

    def _refusal(self, left: int, right: int) -> UnsupportedError:
        mutated, other = sorted((left, right))
        return UnsupportedError(
            f"argument {self.names[mutated]} is mutated and overlaps argument {self.names[other]} in memory, but did"
            " not when the function was compiled: not supported yet, pass a clone of one of them"
        )


def make_guard(declared: func.FuncOp) -> Callable:
    """Reads a guard declaration; the result takes the tensors that are to be checked."""
    attributes = declared.attributes
    names = tuple(ir.StringAttr(ir.DictAttr(each)["dovetail.name"]).value for each in attributes["arg_attrs"])
    extents = tuple(_extent(RefType(type_)) for type_ in declared.type.inputs)
    return Guard(names, extents, ir.IntegerAttr(attributes[MUTATED]).value).check


def _extent(type_: RefType) -> int:
    """Bytes from a tensor's first element to the end of its last."""
    info = type_.info
    if not info.numel:
        return 0
    steps = sum((size - 1) * stride for size, stride in zip(info.shape, type_.strides, strict=True))
    return (steps + 1) * info.itemsize
