"""Pass `fold-indices`: elements that are chosen in their own order are a view."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy
from torch_mlir import ir

from dovetail.dialects.reading import made_by, producer
from dovetail.dialects.torch_facts.names import LIST, LITERAL
from dovetail.dialects.torch_facts.numbers import uniform
from dovetail.dialects.torch_facts.reshapes import RESHAPES
from dovetail.dialects.torch_facts.types import is_tensor, require_tensor_info, tensor_info
from dovetail.passes.base import Pass
from dovetail.passes.cleanup.constant_arrays import created
from dovetail.passes.rewriting.constants import ARANGE, integer, integer_list
from dovetail.passes.rewriting.rules import apply_rules, create, shape
from dovetail.passes.rewriting.slices import Slice

_RESHAPE = "torch.aten.reshape"


class FoldIndicesPass(Pass, name="fold-indices", runs_at="joint"):
    """Takes `index`, `embedding` and `index_select` by whole numbers from 0 up, each once and in order, for views.

    Masks of attention are traced from functions of a batch's, a query's and a key's position: each is an `arange`
    along a dimension of its own. So are the positions that a model with learned ones looks up. Numbers beyond the
    tensor's sizes stay, since eager raises there, as do those that `index_select` is not given in one row; so does what
    would be transposed, or be a diagonal.

    Before:  `%i = view (arange 8), [8, 1, 1]; %j = view (arange 64), [1, 1, 64]; %1 = index %x, [%i, %j]`
    After:   `%1 = reshape %x, [8, 1, 64]`
    """

    def run(self, module: ir.Module) -> bool:
        rules = {"index.Tensor": _index, "embedding": _embedding, "index_select": _index_select}
        return apply_rules(module, {f"torch.aten.{name}": rule for name, rule in rules.items()})


class Count(NamedTuple):
    """Numbers from 0 up to `size`, along dimension `dim` of a tensor, counted from the last; -1 if there is one."""

    dim: int
    size: int


def _index(op: ir.Operation) -> ir.Value | None:
    listed = made_by(op.operands[1], LIST)
    return None if listed is None else _chosen(op.operands[0], list(listed.operands), op.results[0].type)


def _embedding(op: ir.Operation) -> ir.Value | None:
    return _chosen(op.operands[0], [op.operands[1]], op.results[0].type)


def _index_select(op: ir.Operation) -> ir.Value | None:
    base, dim, index = op.operands
    position, count = integer(dim), counted(index)
    if position is None or count is None or not shape(base) or len(shape(index)) != 1:
        return None
    position %= len(shape(base))
    if count.size > shape(base)[position]:
        return None
    return Slice(base, position, 0, count.size, 1).build()


def _chosen(base: ir.Value, indices: Sequence[ir.Value], type_: ir.Type) -> ir.Value | None:
    """What `indices` into the first dimensions of `base` choose, of `type_`, as a view; None if it is none."""
    counts = [counted(index) if is_tensor(index.type) else None for index in indices]
    known = [count for count in counts if count is not None]
    dims = [count.dim for count in known if count.dim >= 0]
    if len(known) < len(counts) or any(one <= other for one, other in pairwise(dims)):
        return None
    if any(count.size > size for count, size in zip(known, shape(base), strict=False)):
        return None
    for dim, count in enumerate(known):
        if count.size < shape(base)[dim]:
            base = Slice(base, dim, 0, count.size, 1).build()
    return create(_RESHAPE, [base, integer_list(require_tensor_info(type_).shape)], type_)


def counted(index: ir.Value) -> Count | None:
    """How `index` counts; None if it does not."""
    sizes = shape(index)
    long = [position for position, size in enumerate(sizes) if size != 1]
    if len(long) > 1:
        return None
    count = Count(len(sizes) - long[0], sizes[long[0]]) if long else Count(-1, 1)
    return count if _is_range(_source(index), count.size) else None


def _source(value: ir.Value) -> ir.Value:
    """Behind reshapes, which keep elements and their order."""
    while (op := producer(value)) is not None and op.name in RESHAPES:
        value = op.operands[0]
    return value


def _is_range(value: ir.Value, size: int) -> bool:
    """Whether `value` has the whole numbers from 0 up to `size`, in order."""
    op, info = producer(value), tensor_info(value.type)
    if op is None or info is None or info.numel != size or info.dtype not in ("int32", "int64"):
        return False
    if size == 1 and uniform(value) == 0:
        return True
    if op.name not in (ARANGE, LITERAL):
        return False
    array = created(op, info, size)
    return array is not None and numpy.array_equal(array.reshape(-1), numpy.arange(size))
