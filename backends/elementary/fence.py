"""Keeps IREE from fusing a transposition with what reads it."""

from torch_mlir import ir

from dovetail.backends.elementary.loop import from_builtin, sizes_of, to_builtin


def fence(transposed: ir.Value) -> None:
    """Has a transposition run by itself, by blocks; a loop with other operands would read it by single elements."""
    op = transposed.owner
    with op.location, ir.InsertionPoint.after(op):
        elements = to_builtin(transposed)
        open_sizes = [size for size in sizes_of(elements) if not isinstance(size, int)]
        barrier = ir.Operation.create("iree_tensor_ext.compute_barrier.end", [elements.type], [elements, *open_sizes])
        fenced = from_builtin(barrier.result, transposed.type)
    transposed.replace_all_uses_except(fenced, elements.owner.operation)
