"""For which tangents a backward uses each saved value, which may be other values than eager saves."""

from collections.abc import Sequence
from functools import reduce
from operator import or_

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.calls import made
from dovetail.dialects.dataflow import follow
from dovetail.dialects.dovetail import DestinationOp
from dovetail.dialects.reading import Module

# The tangents that a value depends on, and where these are none, the saved values: a bit for the number of each, since
# thousands of ops join what their operands depend on.
_Sources = tuple[int, int]


def saved_uses(backward: func.FuncOp, tangents: Sequence[int], module: Module) -> list[frozenset[int]]:
    """For each saved value that `backward` takes, those of `tangents` that it is combined with.

    `tangents` names its last arguments. A backward is linear in its tangents: what depends on several is a sum, and
    each part's saved values are its own.
    """
    saved = len(backward.type.inputs) - len(tangents)
    arguments = [(0, 1 << number) for number in range(saved)] + [(1 << each, 0) for each in tangents]
    combined: dict[int, int] = {}  # tangents, and the saved values that something combines with just these
    follow(backward, arguments, module, lambda op, given: _joined(op, given, combined))
    uses = [reduce(or_, (of for of, by in combined.items() if by >> number & 1), 0) for number in range(saved)]
    return [frozenset(each for each in tangents if of >> each & 1) for of in uses]


def _joined(op: ir.Operation, given: Sequence[_Sources | None], combined: dict[int, int]) -> list[_Sources]:
    """What that depends on which `op` has made, which is noted where it is both a tangent and a saved value."""
    tangents = saved = 0
    for each in given if op.name != DestinationOp.OPERATION_NAME else ():
        if each is not None:
            tangents |= each[0]
            saved |= each[1]
    if tangents and saved:
        combined[tangents] = combined.get(tangents, 0) | saved
    return [(tangents, 0 if tangents else saved)] * len(made(op))
