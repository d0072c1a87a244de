"""For which tangents a backward uses each saved value, which may be other values than eager saves."""

from collections.abc import Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dataflow import follow
from dovetail.dialects.dovetail import DestinationOp
from dovetail.dialects.reading import Module

# The tangents that a value depends on, and where these are none, the saved values: a bit for the number of each, since
# thousands of ops join what their operands depend on.
_Sources = tuple[int, int]


def saved_uses(backward: func.FuncOp, tangents: Sequence[int], module: Module) -> list[frozenset[int]]:
    """For each saved value that `backward` takes, those of `tangents` that it is combined with.

    `tangents` names its last arguments. A backward is linear in its tangents: what
    depends on several is a sum, and each part's saved values are its own.
    """
    saved = len(backward.type.inputs) - len(tangents)
    uses = [0] * saved
    arguments = [(0, 1 << number) for number in range(saved)] + [(1 << each, 0) for each in tangents]
    follow(backward, arguments, module, lambda op, given: _combined(op, given, uses))
    return [frozenset(_numbers(each)) for each in uses]


def _combined(op: ir.Operation, given: Sequence[_Sources | None], uses: list[int]) -> list[_Sources]:
    """What the results of `op` depend on, which is noted where it is both a tangent and a saved value."""
    tangents = saved = 0
    for each in given if op.name != DestinationOp.OPERATION_NAME else ():
        if each is not None:
            tangents |= each[0]
            saved |= each[1]
    for number in _numbers(saved) if tangents else ():
        uses[number] |= tangents
    return [(tangents, 0 if tangents else saved)] * len(op.results)


def _numbers(bits: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while bits:
        yield (lowest := bits & -bits).bit_length() - 1
        bits ^= lowest
