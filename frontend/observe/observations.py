"""What the compiled call must leave behind, decided from one eager run of the graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.open_sizes import known
from dovetail.frontend.observe.alias_groups import AliasGroup, storage
from dovetail.frontend.observe.autograd_graph import counted_with
from dovetail.frontend.observe.backward_facts import BackwardFacts, backward_facts
from dovetail.frontend.observe.results import Results
from dovetail.frontend.observe.run_facts import EagerRun, LeavingTensor, OwnedTensor, WrittenArgument
from dovetail.frontend.records import ArgumentWrite, FinalLayout, Result


@dataclass(frozen=True)
class Observations:
    """What a call leaves behind; by argument: its mutation and its new layout, None where it has none.

    Attributes:
        leaving: the tensors that the call makes for its `results`, or writes.
        touches: by how much the arguments' version counters move without a write.
    """

    leaving: tuple[LeavingTensor, ...]
    results: tuple[Result, ...]
    mutations: tuple[ArgumentWrite | None, ...]
    touches: tuple[int, ...]
    layouts: tuple[FinalLayout | None, ...]
    grad_mode: bool | None
    backward: BackwardFacts

    @cached_property
    def owned(self) -> tuple[OwnedTensor, ...]:
        """What the call makes: the first of those that leave."""
        return tuple(tensor for tensor in self.leaving if isinstance(tensor, OwnedTensor))

    def requires_grad(self, leaving: LeavingTensor) -> bool:
        """Whether a tensor that leaves does so with a history of the call's."""
        if isinstance(leaving, OwnedTensor):
            return leaving.requires_grad
        mutation = self.mutations[leaving.argument]
        return mutation is not None and mutation.is_tracked

    @cached_property
    def written(self) -> dict[int, int]:
        """The number among those that leave of what the call writes, by argument."""
        written = ((position, each) for position, each in enumerate(self.leaving) if isinstance(each, WrittenArgument))
        return {tensor.argument: position for position, tensor in written}


def observe(run: EagerRun, names: Sequence[str], groups: Sequence[AliasGroup]) -> Observations:
    """Reads the observations off a run; what neither writes nor replayed views can reproduce is refused by its name."""
    _check_memory(run, names)
    found = Results(run, names)
    layouts = tuple(_layout(run, index) for index in range(len(run.arguments)))
    written = [WrittenArgument(run.arguments[index], index) for index in sorted(run.written)]
    leaving: tuple[LeavingTensor, ...] = (*found.owned, *written)
    backward = backward_facts(run, found.sorted, leaving, groups)
    # Asked last, since it moves version counters.
    mutations, touches = _mutations(run, groups)
    return Observations(
        leaving, tuple(found.sorted), tuple(mutations), tuple(touches), layouts, run.grad_mode, backward
    )


def _check_memory(run: EagerRun, names: Sequence[str]) -> None:
    reached = {storage(run.arguments[index]) for index in run.written}
    for name, value, before in zip(names, run.arguments, run.before, strict=True):
        if before is None:
            continue
        if storage(value) != before[0]:
            raise UnsupportedError(f"argument {name}: `set_`, which gives it other memory, is not supported yet")
        if value.untyped_storage().nbytes() != before[1]:
            raise UnsupportedError(f"argument {name}: resizing its memory is not supported yet")
        if before[0] in run.memories and before[0] not in reached:
            raise UnsupportedError(f"argument {name}: its memory is written in a way that can't be followed")


def _layout(run: EagerRun, index: int) -> FinalLayout | None:
    before, value = run.before[index], run.arguments[index]
    if not run.reshaped[index]:
        return None
    offset = known(value.storage_offset() - before[2])
    return FinalLayout(tuple(value.size()), tuple(value.stride()), offset, run.reshaped[index])


def _mutations(run: EagerRun, groups: Sequence[AliasGroup]) -> tuple[list[ArgumentWrite | None], list[int]]:
    """Each argument's mutation, and by how much its version counter moves besides.

    Arguments of a group may share a counter: then the writes together move it as far as eager does.
    """
    mutations: list[ArgumentWrite | None] = [None] * len(run.arguments)
    touches = [0] * len(run.arguments)
    grouped = {index for group in groups for index in group.members}
    clusters = [cluster for group in groups for cluster in _sharing(run, group.members)]
    clusters += [[index] for index in range(len(run.arguments)) if index not in grouped]
    for cluster in clusters:
        moves = run.versions[cluster[0]] - sum(run.reshaped[index] for index in cluster)
        written = sorted(run.written.intersection(cluster), key=lambda each: (each not in run.tracked, each))
        for position, index in enumerate(written):
            versions = max(moves - (len(written) - position - 1), 1) if moves > 0 else 0
            mode = "hidden" if versions == 0 else "tracked" if index in run.tracked else "no_grad"
            mutations[index] = ArgumentWrite(mode, versions)
            moves -= versions
        touches[cluster[0]] = moves
    return mutations, touches


def _sharing(run: EagerRun, members: Sequence[int]) -> list[list[int]]:
    """Splits arguments by whose version counter is the same one."""
    clusters: list[list[int]] = []
    for index in members:
        moved = counted_with(run.arguments[index], [run.arguments[cluster[0]] for cluster in clusters])
        if moved:
            clusters[moved[0]].append(index)
        else:
            clusters.append([index])
    return clusters
