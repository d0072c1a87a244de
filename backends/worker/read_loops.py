"""The loops of IREE's linalg ops, from their maps and the shapes of their operands."""

from iree.compiler import ir

from dovetail.backends.worker.loops import OPEN, Loops

_INDEX_BITS = 64


def read_loops(op: ir.Operation, takes_open: bool = False) -> Loops | None:
    """The loops of `op`; None where one's extent, or an operand's position in them, is not plain.

    An extent that is known only when the region runs is `OPEN`, if the caller takes such.
    """
    if "indexing_maps" not in op.attributes:
        return None
    reduced = tuple("reduction" in str(attribute) for attribute in op.attributes["iterator_types"])
    extents: dict[int, int] = {}
    inner: set[int] = set()
    widths: list[tuple[set[int], int]] = []
    for value, given in zip(op.operands, op.attributes["indexing_maps"], strict=True):
        indices = list(given.value.results)
        shaped = value.type if isinstance(value.type, ir.RankedTensorType) else None
        if shaped is None:
            widths.append((set(), width_of(value.type)))
            continue
        if not (takes_open or shaped.has_static_shape) or not all(
            isinstance(index, ir.AffineDimExpr) for index in indices
        ):
            return None
        numbers = [index.position for index in indices]
        widths.append((set(numbers), width_of(shaped.element_type)))
        for dim, number in enumerate(numbers):
            extent = OPEN if shaped.is_dynamic_dim(dim) else shaped.get_dim_size(dim)
            extents[number] = extents.get(number) or extent
        if numbers and len(set(numbers)) == len(reduced):
            inner.add(numbers[-1])
    if set(extents) != set(range(len(reduced))):
        return None
    written = max(width for _, width in widths[len(widths) - len(op.results) :])
    bits = max(8, written, *(width for along, width in widths if not inner or along & inner))
    return Loops(tuple(extents[number] for number in range(len(reduced))), reduced, frozenset(inner), bits, written)


def width_of(type_: ir.Type) -> int:
    """Of a number of a type, as memory holds it."""
    return max(8, type_.width) if isinstance(type_, ir.IntegerType | ir.FloatType) else _INDEX_BITS
