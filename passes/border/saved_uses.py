"""For which tangents a backward uses each saved value, which may be other values than eager saves."""

from collections.abc import Mapping, Sequence

from torch_mlir.dialects import func

from dovetail.dialects.dovetail import DestinationOp
from dovetail.dialects.reading import referred
from dovetail.dialects.torch_facts.types import is_memory

# The numbers of tangents that a value depends on; where these are none, those of the saved values.
_Sources = tuple[frozenset[int], frozenset[int]]
_NOTHING: _Sources = (frozenset(), frozenset())


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
    _follow(backward, arguments, functions, uses)
    return [*map(frozenset, uses)]


def _follow(
    function_op: func.FuncOp, arguments: Sequence[_Sources], functions: Mapping[str, func.FuncOp], uses: list[set[int]]
) -> list[_Sources]:
    """What the results of a function depend on, after what it leaves in memory that it was given."""
    parameters = list(function_op.body.blocks[0].arguments)
    sources = dict(zip(parameters, arguments, strict=True))
    for each in function_op.body.blocks[0].operations:
        op = each.operation
        given = [sources.get(operand, _NOTHING) for operand in op.operands]
        if isinstance(op.opview, func.ReturnOp):
            return [*(sources[each] for each in parameters if is_memory(each)), *given]
        if isinstance(op.opview, func.CallOp):
            made = _follow(functions[referred(op.opview, "callee")], given, functions, uses)
            into = [*(each for each in op.operands if is_memory(each)), *op.results]
            sources.update(zip(into, made, strict=True))
        elif op.name == "torch.overwrite.tensor.contents":
            sources[op.operands[1]] = given[0]
        elif not isinstance(op.opview, DestinationOp):
            sources.update(dict.fromkeys(op.results, _combined(given, uses)))
    return []


def _combined(given: Sequence[_Sources], uses: list[set[int]]) -> _Sources:
    tangents = frozenset[int]().union(*(each for each, _ in given))
    saved = frozenset[int]().union(*(each for _, each in given))
    if not tangents:
        return tangents, saved
    for number in saved:
        uses[number] |= tangents
    return tangents, frozenset()
