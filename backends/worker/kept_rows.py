"""Rows that a kernel adds up where it computes them, and reads once more, lie in its result until then.

Memory of its own for a row of open length would lie on the stack, which is bounded.
"""

from iree.compiler import ir

from dovetail.backends.worker.walk import create

_STORE = "iree_tensor_ext.dispatch.tensor.store"
_ASSUMED = "[[#util.int.assumption<umin = 1, umax = 9007199254740991>]]"
"""What holds of each size, as IREE says it."""


def keep_in_result(op: ir.Operation) -> None:
    """Has `op` store its first result where its only reader stores what it computes of it.

    The reader goes over the same elements, and takes each before it writes it. The last size is an assumption's result:
    else IREE took both stores for one, and what is written by the first for lost.
    """
    rows = op.results[0]
    elements = list(op.attributes["indexing_maps"])[-2].value
    store = _store_behind(rows) if len(elements.results) == elements.n_dims else None
    if store is None:
        return
    _, *where, last = store.operands
    with store.location, ir.InsertionPoint(store):
        same = create("util.assume.int", last.type, last, assumptions=ir.Attribute.parse(_ASSUMED))
        attributes = {name: store.attributes[name] for name in store.attributes}
        ir.Operation.create(_STORE, operands=[rows, *where, same], attributes=attributes)


def _store_behind(rows: ir.Value) -> ir.Operation | None:
    """What stores the result of the loop that alone reads `rows`; None where that goes over them in another way."""
    readers = [use.owner for use in rows.uses]
    if len(readers) != 1 or "indexing_maps" not in readers[0].attributes or len(readers[0].results) != 1:
        return None
    [reader] = readers
    stores = [use.owner for use in reader.results[0].uses]
    maps = [each.value for each in reader.attributes["indexing_maps"]]
    identity = ir.AffineMap.get_identity(ir.RankedTensorType(rows.type).rank, rows.context)
    read = [map_ for value, map_ in zip(reader.operands, maps, strict=True) if value == rows]
    is_same = all(map_ == identity for map_ in (*read, maps[-1])) and reader.results[0].type == rows.type
    return stores[0] if is_same and [each.name for each in stores] == [_STORE] else None
