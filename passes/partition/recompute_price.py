"""What it costs to run an op of the forward again in the backward."""

from collections.abc import Collection, Container

from dovetail.dialects.dovetail import ReadOp
from dovetail.dialects.sizes.expected import expected_bytes, expected_infos
from dovetail.dialects.torch_facts.ops import row
from dovetail.dialects.torch_facts.row import Recompute
from dovetail.passes.partition.joint_graph import JointGraph, JointNode
from dovetail.passes.partition.min_cut import Cost

# A reduction to less than this part of its operands' bytes is saved, for that is little to save.
SMALL = 4
# What a core or a GPU computes while it moves a byte is some 10 to 30, so that a product weighs more than its operands:
# Williams, Waterman and Patterson 2009, "Roofline: An Insightful Visual Performance Model for Multicore Architectures".
FLOPS_PER_BYTE = 16
# Cheap ops in a row; the next is not, else the backward of a deep network would begin with most of its forward.
CHAIN = 100


def recompute_prices(
    graph: JointGraph, forward: Collection[int], written_again: Container[int] = frozenset()
) -> list[Cost]:
    """By node, the work of running it again in bytes moved: 0 if cheap, None for what is never run twice.

    Cheap is what a region computes along the way, and what is not in `forward`: the backward alone computes that. Nodes
    in `written_again` are not: a region of the backward would compute and write them for a library call alone. Never
    run twice are effects (random numbers), reads, since the call may overwrite its arguments, ops of which nothing is
    known, what must be computed once, and what the user wants saved. What the user wants recomputed is cheap.
    """
    prices: list[Cost] = []
    lengths: list[int] = []
    for index, node in enumerate(graph.nodes):
        price: Cost = _price(node, index in forward)
        if price == 0 and index in written_again and not node.is_recomputed:
            price = _work(node)
        length = 1 + max((lengths[operand] for operand in graph.operand_nodes(index)), default=0) if price == 0 else 0
        if length > CHAIN and not (node.is_view or node.is_constant or node.is_recomputed):
            price, length = _work(node), 0
        prices.append(price)
        lengths.append(length)
    return prices


def _price(node: JointNode, in_forward: bool) -> Cost:
    if isinstance(node.view, ReadOp) or node.is_extern or node.is_once or (node.is_saved and not node.is_view):
        return None
    if not in_forward or node.is_recomputed or node.is_view:
        return 0
    match row(node.op).recompute:
        case Recompute.FREE:
            return 0
        case Recompute.FREE_IF_LARGE:
            # A softmax is worth computing again, a sum of many rows is not.
            is_wide = expected_bytes(node.op.results) * SMALL > expected_bytes(node.op.operands)
            return 0 if is_wide else _work(node)
        case Recompute.WORK:
            return _work(node)
        case Recompute.NEVER:
            return None


def _work(node: JointNode) -> int:
    flops = row(node.op).flops(node.op, expected_infos)
    return 1 + expected_bytes([*node.op.operands, *node.op.results]) + flops // FLOPS_PER_BYTE
