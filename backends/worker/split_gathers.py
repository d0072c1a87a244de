"""Gives a loop that gathers its dimensions back, of which IREE's phases before made one.

Of one dimension, a position is a remainder of a remainder: IREE then does not see which neighbours lie side by side,
and reads them one by one.
"""

from collections.abc import Mapping

from iree.compiler import ir

from dovetail.backends.worker.configurations import pointwise
from dovetail.backends.worker.loops import Loops
from dovetail.backends.worker.read_loops import width_of
from dovetail.backends.worker.tensor_graph import LOOPS
from dovetail.backends.worker.walk import clone, create, producer, walk, written_number

_SPAN, _LOAD, _STORE = "hal.interface.binding.subspan", "iree_codegen.load_from_buffer", "iree_codegen.store_to_buffer"
_REMAINDER, _QUOTIENT = "arith.remsi", "arith.divsi"


def split_gathers(kernel: ir.Operation) -> tuple[ir.Operation, Loops] | None:
    """Splits the loops of `kernel` if that does nothing but to load, to gather in one loop, and to store.

    It must be one that is tiled as `pointwise` says: the tiles that IREE chose are of one loop. The op that stands for
    it is given back, with its loops; None where the kernel stays as it is.
    """
    loops = [op for op in walk(kernel) if "iterator_types" in op.attributes]
    if len(loops) != 1 or loops[0].name != LOOPS or not _gathers_flat(loops[0]):
        return None
    (op,) = loops
    index, *others = [each for each in walk(op) if each.name == "linalg.index"]
    (extent,) = ir.RankedTensorType(op.results[0].type).shape
    sizes = [] if others else _sizes(index.results[0], extent)
    if len(sizes) < 2 or not all(_is_loaded(value) for value in list(op.operands)[:-1]):
        return None
    store, split = _stores(op), _split_loops(op, sizes)
    if store is None or pointwise(split) is None:
        return None
    return _split(op, store, sizes), split


def _gathers_flat(op: ir.Operation) -> bool:
    """Whether `op` is one loop of a known length, along which it takes all that has a dimension."""
    maps = [each.value for each in op.attributes["indexing_maps"]]
    are_along = all(not each.results or each == ir.AffineMap.get_identity(1) for each in maps)
    is_flat = len(op.results) == 1 and are_along and ir.RankedTensorType(op.results[0].type).has_static_shape
    names = {each.name for each in walk(op)}
    return is_flat and {"tensor.extract", "linalg.index"} <= names and "reduction" not in str(op.attributes)


def _split_loops(op: ir.Operation, sizes: list[int]) -> Loops:
    """The loops of `op` where they are of `sizes`."""
    widths = [width_of(ir.RankedTensorType(value.type).element_type) for value in op.operands if _rank(value)]
    alone = (False,) * len(sizes)
    return Loops(tuple(sizes), alone, frozenset({len(sizes) - 1}), max(widths), widths[-1])


def _rank(value: ir.Value) -> int:
    return ir.RankedTensorType(value.type).rank if isinstance(value.type, ir.RankedTensorType) else 0


def _sizes(position: ir.Value, extent: int) -> list[int]:
    """The dimensions, outermost first, of which positions up to `extent` are taken apart by remainders."""
    users = [use.owner for use in position.uses]
    sizes = {written_number(user.operands[1]) for user in users if user.name in (_REMAINDER, _QUOTIENT)}
    quotients = [user for user in users if user.name == _QUOTIENT]
    (size,) = sizes if len(sizes) == 1 else (None,)
    is_apart = all(user.name in (_REMAINDER, _QUOTIENT) and user.operands[0] == position for user in users)
    if not size or not is_apart or len(quotients) != 1 or extent % size:
        return [extent]
    return [*_sizes(quotients[0].results[0], extent // size), size]


def _is_loaded(value: ir.Value) -> bool:
    """Whether an operand is a number, or loaded from where it lies."""
    made = producer(value)
    return not _rank(value) or (made is not None and made.name == _LOAD and _is_span(made.operands[0]))


def _is_span(value: ir.Value) -> bool:
    """Whether `value` is memory from its start on, without gaps."""
    made = producer(value)
    return made is not None and made.name == _SPAN and isinstance(ir.MemRefType(value.type).layout, ir.AffineMapAttr)


def _stores(op: ir.Operation) -> ir.Operation | None:
    """The one op that takes the result, and stores it."""
    users = [use.owner for use in op.results[0].uses]
    return users[0] if len(users) == 1 and users[0].name == _STORE and _is_span(users[0].operands[1]) else None


def _split(op: ir.Operation, store: ir.Operation, sizes: list[int]) -> ir.Operation:
    with op.location, ir.InsertionPoint(op):
        taken = [_loaded(value, sizes) for value in list(op.operands)[:-1]]
        out = create("tensor.empty", _shaped(op.results[0].type, sizes))
        made = _loops(op, [*taken, out], sizes)
        span = _span(store.operands[1], sizes)
        operands = [made.results[0], span]
        ir.Operation.create(_STORE, operands=operands, ip=ir.InsertionPoint(store))
    store.erase()
    op.erase()
    return made


def _loops(op: ir.Operation, operands: list[ir.Value], sizes: list[int]) -> ir.Operation:
    rank = len(sizes)
    maps = [ir.AffineMap.get_identity(rank) if _rank(value) else ir.AffineMap.get(rank, 0, []) for value in op.operands]
    stated = {name: op.attributes[name] for name in op.attributes}
    stated["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps])
    stated["iterator_types"] = ir.ArrayAttr.get(list(op.attributes["iterator_types"]) * rank)
    made = ir.Operation.create(LOOPS, results=[operands[-1].type], operands=operands, attributes=stated, regions=1)
    body = op.regions[0].blocks[0]
    types = [argument.type for argument in body.arguments]
    block = made.regions[0].blocks.append(*types, arg_locs=[op.location] * len(types))
    values = dict(zip(body.arguments, block.arguments, strict=True))
    with ir.InsertionPoint(block):
        dim = ir.IntegerType.get_signless(64)
        indices = [
            create("linalg.index", ir.IndexType.get(), dim=ir.IntegerAttr.get(dim, each)) for each in range(rank)
        ]
        known: dict[ir.Value, list[ir.Value]] = {}
        for inner in [view.operation for view in body.operations]:
            if inner.name == "linalg.index":
                known[inner.results[0]] = indices
            elif inner.operands and inner.operands[0] in known and inner.name in (_REMAINDER, _QUOTIENT):
                _take_apart(inner, known, values)
            else:
                clone(inner, values, ir.InsertionPoint(block))
    return made


def _take_apart(op: ir.Operation, known: dict[ir.Value, list[ir.Value]], values: dict[ir.Value, ir.Value]) -> None:
    """Says which index is the remainder `op`, or which ones its quotient is made of; of one, that is it."""
    *outer, last = known[op.operands[0]]
    if op.name == _REMAINDER:
        values[op.results[0]] = last
    elif len(outer) == 1:
        values[op.results[0]] = outer[0]
    else:
        known[op.results[0]] = outer


def _loaded(value: ir.Value, sizes: list[int]) -> ir.Value:
    made = producer(value)
    if made is None or made.name != _LOAD or not _rank(value):
        return value
    return create(_LOAD, _shaped(value.type, sizes), _span(made.operands[0], sizes))


def _span(value: ir.Value, sizes: list[int]) -> ir.Value:
    """The memory that `value` is, of other dimensions."""
    span = producer(value)
    assert span is not None
    stated: Mapping[str, ir.Attribute] = {name: span.attributes[name] for name in span.attributes}
    flat = ir.MemRefType(value.type)
    type_ = ir.MemRefType.get(sizes, flat.element_type, memory_space=flat.memory_space)
    with ir.InsertionPoint(span):
        return create(_SPAN, type_, *span.operands, **stated)


def _shaped(type_: ir.Type, sizes: list[int]) -> ir.Type:
    return ir.RankedTensorType.get(sizes, ir.RankedTensorType(type_).element_type)
