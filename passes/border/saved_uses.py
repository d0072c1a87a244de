"""For which tangents a backward uses each saved value, which may be other values than eager saves."""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dataflow import follow
from dovetail.dialects.dovetail import DestinationOp

# The numbers of tangents that a value depends on; where these are none, those of the saved values.
_Sources = tuple[frozenset[int], frozenset[int]]


def saved_uses(
    backward: func.FuncOp, tangents: Sequence[int], functions: Mapping[str, func.FuncOp]
) -> list[frozenset[int]]:
    """For each saved value that `backward` takes, those of `tangents` that it is combined with.

    `tangents` names its last arguments, `functions` are the module's. A backward is linear in its tangents: what
    depends on several is a sum, and each part's saved values are its own.
    """
    saved = len(backward.type.inputs) - len(tangents)
    uses = [set[int]() for _ in range(saved)]
    arguments = [(frozenset[int](), frozenset((number,))) for number in range(saved)]
    arguments += [(frozenset((each,)), frozenset()) for each in tangents]
    follow(backward, arguments, functions, lambda op, given: _combined(op, given, uses))
    return [*map(frozenset, uses)]


def _combined(op: ir.Operation, given: Sequence[_Sources | None], uses: list[set[int]]) -> list[_Sources]:
    """What the results of `op` depend on, which is noted where it is both a tangent and a saved value."""
    known = [each for each in given if each is not None and not isinstance(op.opview, DestinationOp)]
    tangents = frozenset[int]().union(*(each for each, _ in known))
    saved = frozenset[int]().union(*(each for _, each in known))
    for number in saved if tangents else ():
        uses[number] |= tangents
    return [(tangents, frozenset() if tangents else saved)] * len(op.results)
