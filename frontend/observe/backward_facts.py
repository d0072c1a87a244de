"""What eager's backward would do from each tensor that the call makes: need memory unchanged, reach arguments, free."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from dovetail.dialects.by_key import by_key
from dovetail.frontend.observe.alias_groups import AliasGroup, storage
from dovetail.frontend.observe.autograd_graph import edges, frees, nodes_on_the_way, saved_by, sharing
from dovetail.frontend.observe.run_facts import EagerRun, LeavingTensor, OwnedTensor, WrittenArgument
from dovetail.frontend.records import Needed, Result

Node = torch.autograd.graph.Node


@dataclass(frozen=True)
class BackwardFacts:
    """What is said of the tensors that leave the call, by their numbers.

    Attributes:
        arguments, owned: on the way of which of them each argument is needed, and each tensor that the call makes.
        reached: from which of them a gradient flows to each argument, None where it is not known.
        frees: the groups of saved values that a backward from each frees, by number; equal numbers are freed together.
        written_last: the source line that writes an argument after autograd saved the last value, None where none does.
    """

    arguments: tuple[Needed, ...]
    owned: tuple[Needed, ...]
    reached: tuple[tuple[int, ...] | None, ...]
    frees: tuple[tuple[int, ...], ...]
    written_last: str | None


def backward_facts(
    run: EagerRun, results: Sequence[Result], leaving: Sequence[LeavingTensor], groups: Sequence[AliasGroup]
) -> BackwardFacts:
    """Reads the facts off autograd's graph of a run; raises as `saved_by` does."""
    differentiated = [(result.owned, value) for result, value in zip(results, run.results, strict=True)]
    differentiated += [
        (position, each.tensor)
        for position, each in enumerate(leaving)
        if isinstance(each, WrittenArgument) and each.argument in run.tracked
    ]
    tensors = by_key(
        (position, value)
        for position, value in differentiated
        if position is not None and isinstance(value, torch.Tensor) and value.requires_grad
    )
    nodes = {position: nodes_on_the_way(each, run.history) for position, each in tensors.items()}
    arguments = [argument if isinstance(argument, torch.Tensor) else None for argument in run.arguments]
    freed = _freed(nodes)
    written_last = _written_last(run, {node for each in nodes.values() for node in each})
    reached = _reached(run, tensors, nodes, groups)
    # Asked last, since it moves version counters.
    saved = {position: saved_by(found, run.slices) for position, found in nodes.items()}
    counted = [*arguments, *(owned.tensor for owned in leaving if isinstance(owned, OwnedTensor))]
    counters = [() if each is None else (each, *run.around.get(id(each), ())) for each in counted]
    needed = tuple(map(Needed, sharing(counters, saved), _reread(run, nodes, counted)))
    return BackwardFacts(
        needed[: len(arguments)],
        needed[len(arguments) :],
        tuple(reached),
        tuple(freed.get(position, ()) for position in range(len(leaving))),
        written_last,
    )


def check_saved(run: EagerRun) -> None:
    """Raises, as `saved_by` does, for what autograd saved for results and for arguments written in its sight."""
    values = [*run.results, *(run.arguments[index] for index in run.tracked)]
    tensors = [value for value in values if isinstance(value, torch.Tensor) and value.requires_grad]
    saved_by(nodes_on_the_way(tensors, run.history), run.slices)


def _freed(nodes: dict[int, list[Node]]) -> dict[int, tuple[int, ...]]:
    """By position, the groups of nodes that it frees; nodes on the way of the same ones make one group."""
    positions = by_key((node, position) for position, found in nodes.items() for node in found)
    groups = sorted({tuple(group) for node, group in positions.items() if frees(node)})
    return {position: tuple(number for number, group in enumerate(groups) if position in group) for position in nodes}


def _written_last(run: EagerRun, nodes: set[Node]) -> str | None:
    last_save = max((node._sequence_nr() for node in nodes if frees(node)), default=-1)
    when, position = run.last_write
    return position if nodes and when > last_save else None


def _reread(
    run: EagerRun, nodes: dict[int, list[Node]], tensors: Sequence[torch.Tensor | None]
) -> list[tuple[int, ...]]:
    """For each of `tensors`, the positions that a checkpointed region is on the way of which reads its memory."""
    read: dict[int, set[int]] = {}
    for position, found in nodes.items():
        numbers = {node._sequence_nr() for node in found}
        recomputed = (each for each in run.rereads if any(number in each.nodes for number in numbers))
        read[position] = {each for reread in recomputed for each in reread.memories}
    return [
        ()
        if tensor is None
        else tuple(sorted(position for position, memories in read.items() if storage(tensor) in memories))
        for tensor in tensors
    ]


def _reached(
    run: EagerRun, tensors: dict[int, list[torch.Tensor]], nodes: dict[int, list[Node]], groups: Sequence[AliasGroup]
) -> list[tuple[int, ...] | None]:
    """For each argument, from which positions a gradient flows to it; arguments that share memory share gradients."""
    if not run.convention.is_plain:
        return [None] * len(run.arguments)
    taken = {
        position: {edge for value in tensors[position] for edge in edges(value)}
        | {edge for node in found for edge in node.next_functions}
        for position, found in nodes.items()
    }
    written = (group.members for group in groups if run.written.intersection(group.members))
    together = {index: members for members in written for index in members}
    return [
        tuple(
            position
            for position, found in sorted(taken.items())
            if any(run.edges[each] & found for each in together.get(index, (index,)))
        )
        for index in range(len(run.arguments))
    ]
