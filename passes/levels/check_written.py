"""What `verify-level` asks of library calls that are given memory for their results: that these fit it."""

from collections.abc import Sequence

import numpy
from torch_mlir import ir

from dovetail.dialects.calls import written
from dovetail.dialects.reading import made_by
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.ops import Kind, aten_name, kind
from dovetail.dialects.torch_facts.out_overloads import out_overload
from dovetail.dialects.torch_facts.types import TensorInfo, require_tensor_info, shaped_info, tensor_info
from dovetail.passes.base import fail
from dovetail.passes.rewriting.constants import integer


def check_written(ops: Sequence[ir.Operation], pass_name: str) -> None:
    """Raises PassError for one of the `ops` whose result is of another shape than the memory that it is written to.

    PyTorch would give that memory another shape, or leave some of it unset.
    """
    for op in ops:
        memory = written(op)
        if memory is None:
            continue
        name = aten_name(op) or ""
        if name == "aten.cat.default":
            is_fit = _joins(op, require_tensor_info(memory.type))
        elif kind(op) is Kind.POINTWISE and out_overload(name) is not None:
            is_fit = _shape(op) == require_tensor_info(memory.type).shape
        else:
            raise fail(op, pass_name, "writes to memory, expected aten.cat or a pointwise op with an overload 'out'")
        if not is_fit:
            raise fail(op, pass_name, f"writes to '{memory.type}', expected memory of the shape of its result")


def _shape(op: ir.Operation) -> tuple[int, ...] | None:
    """That of what a pointwise op computes; None for operands that don't go together, or of open sizes."""
    infos = [tensor_info(each.type) for each in list(op.operands)[:-1] if shaped_info(each.type) is not None]
    try:
        return None if None in infos else numpy.broadcast_shapes(*(each.shape for each in infos if each is not None))
    except ValueError:
        return None


def _joins(cat: ir.Operation, memory: TensorInfo) -> bool:
    """Whether tensors of the memory's element type, joined along a known dimension, have its shape."""
    listed, dim, rank = made_by(cat.operands[0], LIST), integer(cat.operands[1]), len(memory.shape)
    if listed is None or dim is None or not -rank <= dim < rank:
        return False
    infos = [tensor_info(each.type) for each in listed.operands]
    shapes = [each.shape for each in infos if each is not None and each.dtype == memory.dtype]
    if len(shapes) != len(infos) or any(len(each) != rank for each in shapes):
        return False
    lengths = [each[dim] for each in shapes]
    others = {each[: dim % rank] + each[dim % rank + 1 :] for each in shapes}
    return sum(lengths) == memory.shape[dim] and others == {memory.shape[: dim % rank] + memory.shape[dim % rank + 1 :]}
