"""Makes one kernel of what belongs together, in a text of IREE's phase `global-optimization`.

Where a value is used twice, IREE cuts, and stores it. Sums of rows and what needs them row by row become one dispatch
region here, which reads the rows once; sums along other dimensions compute their terms by ops of their own. A part of a
concatenation becomes one with what computes it, and is written where it belongs.
"""

from iree.compiler import ir

from dovetail.backends.worker.gathers import merge_gathers
from dovetail.backends.worker.merge_alike import merge_alike
from dovetail.backends.worker.merge_columns import merge_columns
from dovetail.backends.worker.merged_loops import is_mergeable, merge
from dovetail.backends.worker.parts import wrap_parts
from dovetail.backends.worker.tensor_graph import LOOPS, TensorGraph
from dovetail.backends.worker.walk import editing, producer
from dovetail.backends.worker.wrap_rows import wrap_rows


def wrap(text: bytes) -> bytes:
    """`text` with such regions, where IREE would cut."""
    with editing(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for function in module.body.operations:
            if function.operation.name == "util.func" and len(function.regions[0].blocks):
                block = function.regions[0].blocks[0]
                merge_gathers(block)
                wrap_parts(block)
                wrap_rows(block)
                merge_columns(block)
                _widen_where_rounded(block)
                merge_alike(block)
        return str(module).encode()


def _widen_where_rounded(block: ir.Block) -> None:
    """Makes one loop of what rounds numbers and what widens them again, for which alone they are rounded.

    IREE makes what widens part of what takes it, and so a kernel of its own where nothing does.
    """
    graph = TensorGraph(block)
    for number, op in enumerate(graph.ops):
        rounding = graph.number(op.operands[0]) if graph.loops[number] and len(op.operands) == 2 else -1
        if (
            rounding < 0
            or not _computes_last(op, "arith.extf")
            or not _computes_last(graph.ops[rounding], "arith.truncf")
        ):
            continue
        loops = graph.loops[rounding]
        are_mergeable = is_mergeable(graph, number) and is_mergeable(graph, rounding)
        if are_mergeable and loops and not loops.reduces and graph.users({rounding}) == [number]:
            merge(graph, [number], {rounding})
            op.erase()
            graph.ops[rounding].erase()


def _computes_last(op: ir.Operation, name: str) -> bool:
    """Whether an op called `name` computes what the loops `op` yield."""
    if op.name != LOOPS:
        return False
    *_, end = [view.operation for view in op.regions[0].blocks[0].operations]
    made = producer(end.operands[0])
    return made is not None and made.name == name
