"""`as_strided` and `slice_scatter`: what sees memory, or is given memory to write by IREE, where the IR has values."""

import sys

import torch
from torch.utils._pytree import tree_leaves
from torch_mlir import ir

from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.open_sizes import identity, is_open_value, known
from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.to_ir.building import listed, torch_op


def import_as_strided(importer, node) -> None:
    """`as_strided` sees memory, not values: right only on a tensor that lies as its value does."""
    base = node.args[0].meta["val"]
    if not base.is_contiguous() or base.storage_offset() != 0:
        raise UnsupportedError(f"{source_line(node)}: as_strided of a non-contiguous tensor is not supported yet")
    operands = importer.operands(node.target, node.args, node.kwargs)
    importer.bind_node_value(node, torch_op("torch.aten.as_strided", importer._cc.node_val_to_type(node), *operands))


def import_slice_scatter(importer, node) -> None:
    """As the concatenation of what stays and what is new.

    IREE writes a slice into the memory of the tensor that it is scattered into, even if that is an argument's, and
    while it still reads a slice of it.
    """
    if any(map(is_open_value, tree_leaves((node.meta["val"].size(), [_number(number) for number in node.args[2:]])))):
        if _writes_all(node):
            importer.bind_node_value(node, importer.resolve_node_value(node.args[1]))
            return
        importer.import_extern(node, node.target, "slice_scatter of open sizes", is_fallback=True)
        return
    base, source, dim, start, end, step = _slice_arguments(node)
    if step != 1:
        importer.import_extern(node, node.target, f"slice_scatter with step {step}", is_fallback=True)
        return
    kept = [(0, start), (end, base.meta["val"].size(dim))]
    before, after = (_slice(importer, base, dim, *bounds) if bounds[0] < bounds[1] else None for bounds in kept)
    parts = [part for part in (before, importer.resolve_node_value(source), after) if part is not None]
    type_ = importer._cc.node_val_to_type(node)
    joined = torch_op("torch.aten.cat", type_, listed("vtensor", parts), importer.argument(dim))
    importer.bind_node_value(node, joined)


def _writes_all(node) -> bool:
    """Whether a `slice_scatter` of open sizes leaves nothing of what it writes to, as the gradient of `x[:]` does."""
    _, source, *rest = node.args
    given = dict(zip(("dim", "start", "end", "step"), rest, strict=False)) | node.kwargs
    start, end, step = given.get("start") or 0, given.get("end"), given.get("step", 1)
    is_whole = (start, step) == (0, 1) and (end is None or (not is_open_value(_number(end)) and end == sys.maxsize))
    made, written = node.meta["val"], source.meta["val"]
    sizes = [list(map(identity, tensor.size())) for tensor in (made, written)]
    return is_whole and sizes[0] == sizes[1] and made.dtype == written.dtype


def _slice(importer, base: torch.fx.Node, dim: int, start: int, end: int) -> ir.Value:
    value = base.meta["val"]
    shape = torch.Size([*value.shape[:dim], end - start, *value.shape[dim + 1 :]])
    numbers = [importer.argument(number) for number in (dim, start, end, 1)]
    type_ = importer._cc.create_vtensor_type(value.dtype, shape)
    return torch_op("torch.aten.slice.Tensor", type_, importer.resolve_node_value(base), *numbers)


def _number(argument):
    """The number that an argument is or will be."""
    return argument.meta.get("val") if isinstance(argument, torch.fx.Node) else argument


def _slice_arguments(node) -> tuple:
    """(base, source, dim, start, end, step) of a `slice_scatter`, within bounds."""
    base, source, *rest = node.args
    given = dict(zip(("dim", "start", "end", "step"), rest, strict=False)) | node.kwargs
    dim = given.get("dim", 0) % base.meta["val"].dim()
    size = base.meta["val"].size(dim)
    # One may be a node whose number became known while the graph was traced.
    asked = [known(_number(number)) for number in (given.get("start"), given.get("end"), given.get("step", 1))]
    start, end, step = slice(*asked).indices(known(size))
    return base, source, dim, start, max(start, end), step
