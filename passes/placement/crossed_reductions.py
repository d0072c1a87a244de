"""Reductions whose result meets itself along another dimension, `v[:, None] * v`, or is spread out and reduced.

IREE computes a reduction in the loop that uses it, tile by tile. Where one op reads the result along two dimensions, a
tile needs numbers of other tiles, which are not there yet. Where another reduction, as in `(x - x.sum(0)).sum()`, takes
in dimensions of the result and others along which it is repeated, IREE computes it once for each repetition, and adds
to what it has stored. What reduces dimensions of size 1 alone, or moves elements along them, ends nothing: for IREE, it
is a pointwise op.
"""

from collections.abc import Iterable

from torch_mlir import ir

from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.sizes import OpenSize
from dovetail.dialects.torch_facts.transposition import reorders
from dovetail.dialects.torch_facts.types import shaped_info, tensor_info
from dovetail.passes.placement.placed_graph import PlacedGraph
from dovetail.passes.rewriting.sums import reduced_dims

_FOLLOWED = (Kind.VIEW, Kind.POINTWISE)
_FOLLOWED_IF_AS_LARGE = (Kind.REDUCTION, Kind.MOVEMENT)

Dims = tuple[object, ...]
"""Along which dimensions of a value a reduction's result lies, counted from the last; or the view that hid it."""


def crossed_reductions(graph: PlacedGraph, computed: Iterable[int]) -> list[int]:
    """The reductions of one region whose result one of its ops takes along other dimensions, or spread out and reduces.

    Args:
        graph: the function.
        computed: the numbers of the ops that the region computes.
    """
    inside = set(computed)
    return [number for number in inside if kind(graph.ops[number]) is Kind.REDUCTION and _meets(graph, number, inside)]


def _meets(graph: PlacedGraph, reduction: int, inside: set[int]) -> bool:
    """Whether the result of `reduction`, followed through pointwise ops `inside` and views, ends in such an op."""
    start = graph.results[reduction][0]
    if (info := tensor_info(start.type)) is not None and info.numel < 2:
        return False
    dims_of: dict[ir.Value, Dims] = {start: _dims(start)}
    pending = [start]
    while pending:
        value = pending.pop()
        for number in graph.consumers.get(value, ()):
            user = graph.ops[number]
            if not (number in inside or graph.placement[number] == "view"):
                continue
            if kind(user) is Kind.REDUCTION and _reduces_repeated(user, value, dims_of[value]):
                return True
            if len(graph.results[number]) != 1 or not _is_followed(user, value):
                continue
            met = {dims_of[operand] for operand in graph.operands[number] if operand in dims_of}
            if len(met) > 1 and number in inside:
                return True
            (result,) = graph.results[number]
            if result not in dims_of:
                dims_of[result] = dims_of[value] if kind(user) is Kind.POINTWISE else _seen(user, value, dims_of[value])
                pending.append(result)
    return False


def _is_followed(op: ir.Operation, value: ir.Value) -> bool:
    """Whether IREE may compute `value` in the loop that computes `op`, where this is no reduction to it."""
    if kind(op) in _FOLLOWED:
        return True
    return kind(op) in _FOLLOWED_IF_AS_LARGE and _longer_than_one(value) == _longer_than_one(op.results[0])


def _reduces_repeated(reduction: ir.Operation, value: ir.Value, dims: Dims) -> bool:
    """Whether `reduction` takes in dimensions of the result, which lies in `value` along `dims`, and others."""
    sizes = _sizes(value)
    kept = [index for index in dims if isinstance(index, tuple)]
    if len(kept) < len(dims):
        return True  # behind a view that hides where they are
    taken = reduced_dims(reduction)
    if taken is None:
        return bool(kept)
    reduced = [(len(sizes) - dim, sizes[dim]) for dim in taken if sizes[dim] != 1]
    return not set(kept).isdisjoint(reduced) and not set(reduced) <= set(kept)


def _dims(value: ir.Value) -> Dims:
    sizes = _sizes(value)
    return tuple((len(sizes) - dim, size) for dim, size in enumerate(sizes) if size != 1)


def _seen(view: ir.Operation, value: ir.Value, dims: Dims) -> Dims:
    """The dimensions along which it lies in a `view` of `value`: they move with the sizes around them.

    What reduces or moves elements along dimensions of size 1 is taken for a view.
    """
    result = view.results[0]
    keeps_order = len(dims) < 2 or not reorders(view)
    keeps_sizes = _longer_than_one(value) == _longer_than_one(result)
    return _dims(result) if dims == _dims(value) and keeps_sizes and keeps_order else (view,)


def _longer_than_one(value: ir.Value) -> list[OpenSize]:
    return [size for size in _sizes(value) if size != 1]


def _sizes(value: ir.Value) -> tuple[OpenSize, ...]:
    """Its sizes; one that is known only when the program runs is taken for any other such."""
    info = shaped_info(value.type)
    return () if info is None else info.shape
