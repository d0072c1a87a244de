"""Has each part of a concatenation written where it belongs, in a text of IREE's phase `global-optimization`.

IREE would store a part, and copy it there. A CPU's loop over every second number of a row, or every fourth, would read
them one by one, through memory; it reads whole rows, of wider numbers.
"""

from iree.compiler import ir

from dovetail.backends.worker.agreed import WIDE_BITS
from dovetail.backends.worker.read_loops import width_of
from dovetail.backends.worker.tensor_graph import LOOPS, TensorGraph
from dovetail.backends.worker.walk import create, editing, replace

_INSERT = "tensor.insert_slice"
_EXTRACT = "tensor.extract_slice"


def write_parts(text: bytes) -> bytes:
    """`text` of a CPU's regions, where what computes a part stores it there, and reads whole rows."""
    with editing(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for function in module.body.operations:
            if function.operation.name == "util.func" and len(function.regions[0].blocks):
                block = function.regions[0].blocks[0]
                for op in [view.operation for view in block.operations if view.operation.name == _EXTRACT]:
                    _read_whole_rows(op)
                wrap_parts(block)
        return str(module).encode()


def wrap_parts(block: ir.Block) -> None:
    """Makes one kernel of each part of a concatenation and what computes it, element by element."""
    graph = TensorGraph(block)
    inserts = [number for number, op in enumerate(graph.ops) if op.name == _INSERT]
    by_element = {number for number, loops in enumerate(graph.loops) if loops is None or not loops.reduces}
    for number in inserts:
        part = graph.needed_by(graph.needs[number][:1], by_element)
        if any(graph.loops[each] for each in part):
            enclose(graph, part | {number}, graph.ops[number].results)
    graph.erase_unused(graph.needed_by(number for insert in inserts for number in graph.needs[insert]))


def enclose(graph: TensorGraph, inside: set[int], results: list[ir.Value]) -> ir.Operation:
    """Makes, behind `inside`, a dispatch region of copies of it, whose results stand for `results` elsewhere."""
    region = ir.Operation.create(
        "flow.dispatch.region",
        results=[value.type for value in results],
        attributes={"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])},
        regions=2,
        ip=ir.InsertionPoint.after(graph.ops[max(inside)]),
    )
    block = region.regions[0].blocks.append()
    values = graph.copied(inside, ir.InsertionPoint(block))
    ir.Operation.create("flow.return", operands=[values[value] for value in results], ip=ir.InsertionPoint(block))
    for value, result in zip(results, region.results, strict=True):
        value.replace_all_uses_with(result)
    return region


def _read_whole_rows(op: ir.Operation) -> None:
    """Has loops take wider numbers in place of `op`'s result, a slice that takes one of each few of a row.

    Those few are one wider number. The first of them is its low part, on every CPU that IREE's code is made for here.
    """
    source, taken = ir.RankedTensorType(op.operands[0].type), ir.RankedTensorType(op.results[0].type)
    uses = [(use.owner, use.operand_number) for use in op.results[0].uses]
    if len(op.operands) > 1 or not (source.has_static_shape and taken.has_static_shape) or source.rank != taken.rank:
        return
    offsets, steps = (list(ir.DenseI64ArrayAttr(op.attributes[name])) for name in ("static_offsets", "static_strides"))
    bits, step = width_of(source.element_type), steps[-1]
    is_whole = [size * each for size, each in zip(taken.shape, steps, strict=True)] == list(source.shape)
    is_part = is_whole and set(steps[:-1]) <= {1} and step > 1 and bits * step in WIDE_BITS
    if not is_part or not all(user.name == LOOPS for user, _ in uses):
        return
    wide = ir.IntegerType.get_signless(bits * step)
    with op.location, ir.InsertionPoint(op):
        segments = ir.DenseI32ArrayAttr.get([1, 0, 0])
        type_ = ir.RankedTensorType.get(taken.shape, wide)
        rows = create("iree_tensor_ext.bitcast", type_, op.operands[0], operandSegmentSizes=segments)
    for user, index in uses:
        _narrow(user.regions[0].blocks[0], index, wide, source.element_type, offsets[-1] * bits)
    replace(op, rows)


def _narrow(body: ir.Block, index: int, wide: ir.Type, narrow: ir.Type, first: int) -> None:
    """Has `body` take an argument of the type `wide`, of which it is about the bits from the `first` on."""
    argument = body.arguments[index]
    argument.set_type(wide)
    bits = ir.IntegerType.get_signless(width_of(narrow))
    uses = [(use.owner, use.operand_number) for use in argument.uses]
    with ir.Location.unknown(), ir.InsertionPoint.at_block_begin(body):
        moved = argument
        if first:
            by = create("arith.constant", wide, value=ir.IntegerAttr.get(wide, first))
            moved = create("arith.shrui", wide, argument, by)
        low = create("arith.trunci", bits, moved)
        number = low if narrow == bits else create("arith.bitcast", narrow, low)
    for owner, position in uses:
        owner.operands[position] = number
