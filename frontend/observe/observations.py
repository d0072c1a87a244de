"""What the compiled call must leave behind, decided from one eager run of the graph."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from dovetail.errors import UnsupportedError
from dovetail.frontend.observe.alias_groups import AliasGroup, memory
from dovetail.frontend.observe.backward_facts import BackwardFacts, backward_facts
from dovetail.frontend.observe.run_facts import EagerRun, Origin, version
from dovetail.frontend.observe.view_chains import as_strided, key, replay
from dovetail.frontend.records import Layout, Mutation, Result, ViewStep

_DETACH = ViewStep("aten.detach.default", ())


@dataclass(frozen=True)
class OwnedTensor:
    """Memory that the call makes and hands out: where the run first saw it, how it ends.

    `base` are the sizes of what a custom autograd function has made it a view of.
    """

    origin: Origin
    layout: Layout
    requires_grad: bool
    base: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Observations:
    """Results, memory made for them, and for each argument its mutation and its new layout (None where it has none).

    `touches` is by how much the arguments' version counters move without a write.
    """

    owned: tuple[OwnedTensor, ...]
    results: tuple[Result, ...]
    mutations: tuple[Mutation | None, ...]
    touches: tuple[int, ...]
    layouts: tuple[Layout | None, ...]
    grad_mode: bool | None
    backward: BackwardFacts


def observe(run: EagerRun, names: Sequence[str], groups: Sequence[AliasGroup]) -> Observations:
    """Reads the observations off a run.

    Raises:
        UnsupportedError: for what neither writes nor replayed views can reproduce, naming the argument or the result.
    """
    _check_memory(run, names)
    sorted_results = _Results(run, names)
    owned, results = sorted_results.build()
    layouts = tuple(_layout(run, index) for index in range(len(run.arguments)))
    backward = backward_facts(run, results, sorted_results.tensors, groups)
    mutations, touches = _mutations(run, groups)
    return Observations(
        tuple(owned), tuple(results), tuple(mutations), tuple(touches), layouts, run.grad_mode, backward
    )


def _check_memory(run: EagerRun, names: Sequence[str]) -> None:
    reached = {memory(run.arguments[index]) for index in run.written}
    for name, value, before in zip(names, run.arguments, run.before, strict=True):
        if before is None:
            continue
        if memory(value) != before[0]:
            raise UnsupportedError(f"argument {name}: `set_`, which gives it other memory, is not supported yet")
        if value.untyped_storage().nbytes() != before[1]:
            raise UnsupportedError(f"argument {name}: resizing its memory is not supported yet")
        if before[0] in run.memories and before[0] not in reached:
            raise UnsupportedError(f"argument {name}: its memory is written in a way that can't be followed")


def _layout(run: EagerRun, index: int) -> Layout | None:
    before, value = run.before[index], run.arguments[index]
    if not run.reshaped[index]:
        return None
    offset = int(value.storage_offset() - before[4])
    return Layout(tuple(value.size()), tuple(value.stride()), offset, run.reshaped[index])


def _mutations(run: EagerRun, groups: Sequence[AliasGroup]) -> tuple[list[Mutation | None], list[int]]:
    """Each argument's mutation, and by how much its version counter moves besides.

    Arguments of a group may share a counter: then the writes together move it as far as eager does.
    """
    mutations: list[Mutation | None] = [None] * len(run.arguments)
    touches = [0] * len(run.arguments)
    grouped = {index for group in groups for index in group.members}
    clusters = [cluster for group in groups for cluster in _sharing(run, group.members)]
    clusters += [[index] for index in range(len(run.arguments)) if index not in grouped]
    for cluster in clusters:
        moves = run.versions[cluster[0]] - sum(run.reshaped[index] for index in cluster)
        written = sorted(run.written.intersection(cluster), key=lambda each: (each not in run.tracked, each))
        for place, index in enumerate(written):
            versions = max(moves - (len(written) - place - 1), 1) if moves > 0 else 0
            mode = "hidden" if versions == 0 else "tracked" if index in run.tracked else "no_grad"
            mutations[index] = Mutation(mode, versions)
            moves -= versions
        touches[cluster[0]] = moves
    return mutations, touches


def _sharing(run: EagerRun, members: Sequence[int]) -> list[list[int]]:
    """Splits arguments by whose version counter is the same one."""
    clusters: list[list[int]] = []
    for index in members:
        before = [version(run.arguments[cluster[0]]) for cluster in clusters]
        if run.arguments[index].is_inference():
            clusters.append([index])
            continue
        torch.autograd.graph.increment_version(run.arguments[index])
        moved = [
            cluster for cluster, old in zip(clusters, before, strict=True) if version(run.arguments[cluster[0]]) > old
        ]
        if moved:
            moved[0].append(index)
        else:
            clusters.append([index])
    return clusters


class _Results:
    """Sorts the results by the memory that they lie in."""

    def __init__(self, run: EagerRun, names: Sequence[str]):
        self.run, self.names = run, names
        self.argument_memories = {memory(each) for each in run.arguments if isinstance(each, torch.Tensor)}
        self.owned: list[OwnedTensor] = []
        self.tensors: list[torch.Tensor] = []
        self.roots: dict[int, int] = {}

    def build(self) -> tuple[list[OwnedTensor], list[Result]]:
        results: list[Result] = []
        first: dict[int, int] = {}
        for index, value in enumerate(self.run.results):
            if not isinstance(value, torch.Tensor):
                results.append(Result(value=value))
            elif id(value) in first:
                results.append(Result(same_as=first[id(value)]))
            else:
                first[id(value)] = index
                results.append(self._result(index, value))
        return self.owned, results

    def _result(self, index: int, value: torch.Tensor) -> Result:
        for number, argument in enumerate(self.run.arguments):
            if argument is value:
                return Result(argument=number)
        _check_history(index, value)
        detached = self._detached_base(value)
        if detached is not None:
            base, chain = self.run.path(value, self.run.results[detached])
            return Result(of=detached, chain=self._checked(index, value, base, chain))
        if memory(value) in self.argument_memories:
            return self._view_of_argument(index, value)
        root, chain = self.run.path(value)
        is_detached = value._base is None and not value.is_inference() and self._is_alone(value)
        if root is value or (is_detached and _is_whole(value)):
            return Result(owned=self._own(value))
        if self._passes_barrier(value):
            if self._is_alone(value) and id(value) in self.run.barriers and _is_row_by_row(value, root):
                # Its gradient is the custom function's, not its base's.
                return Result(owned=self._own(value, tuple(root.size()) if value.requires_grad else None))
            raise UnsupportedError(f"result {index} shares memory through a custom autograd.Function")
        number = self._own(root)
        seen = root if self.owned[number].requires_grad else root.detach()
        return Result(owned=number, chain=self._checked(index, value, seen, chain))

    def _detached_base(self, value: torch.Tensor) -> int | None:
        """The result that is the base of `value` though it is detached from another tensor itself."""
        base = value._base
        if base is None or id(base) not in self.run.parents or self.run.path(value, base)[0] is not base:
            return None
        is_argument = any(base is argument for argument in self.run.arguments)
        places = (place for place, each in enumerate(self.run.results) if each is base)
        return None if is_argument else next(places, None)

    def _view_of_argument(self, index: int, value: torch.Tensor) -> Result:
        root, chain = self.run.path(value)
        for number, argument in enumerate(self.run.arguments):
            if argument is root and not self._passes_barrier(value):
                return Result(argument=number, chain=self._checked(index, value, argument, chain))
        name = next(
            name
            for name, each in zip(self.names, self.run.arguments, strict=True)
            if isinstance(each, torch.Tensor) and memory(each) == memory(value)
        )
        raise UnsupportedError(f"result {index} shares memory with argument {name} in a way that can't be replayed")

    def _is_alone(self, value: torch.Tensor) -> bool:
        """Whether no other result lies in the same memory."""
        tensors = (each for each in self.run.results if isinstance(each, torch.Tensor))
        return not any(each is not value and memory(each) == memory(value) for each in tensors)

    def _passes_barrier(self, value: torch.Tensor) -> bool:
        while id(value) in self.run.parents:
            if id(value) in self.run.barriers:
                return True
            value, _ = self.run.parents[id(value)]
        return False

    def _own(self, tensor: torch.Tensor, base: tuple[int, ...] | None = None) -> int:
        if id(tensor) not in self.roots:
            self.roots[id(tensor)] = len(self.owned)
            self.tensors.append(tensor)
            layout = Layout(tuple(tensor.size()), tuple(tensor.stride()))
            tensors = [each for each in self.run.results if isinstance(each, torch.Tensor)]
            requires_grad = any(each.requires_grad for each in tensors if memory(each) == memory(tensor))
            requires_grad = requires_grad and tensor.requires_grad
            self.owned.append(OwnedTensor(self.run.origins[id(tensor)], layout, requires_grad, base))
        return self.roots[id(tensor)]

    def _is_regenerated(self, value: torch.Tensor) -> bool:
        """Whether autograd makes an empty view's node anew, since its base was written: that one ends double backward.

        On tensors without memory it is another one.
        """
        return not value.numel() and value.requires_grad and version(value) > self.run.born.get(id(value), 0)

    def _checked(self, index: int, value, root, chain: tuple[ViewStep, ...]) -> tuple[ViewStep, ...]:
        """`chain` if replaying it on how its root ends gives a tensor like `value`; else the nearest that does."""
        with self.run.mode:
            if not _fits(value, root, chain) or self._is_regenerated(value):
                if value.dtype != root.dtype:
                    raise UnsupportedError(f"result {index}: its view functions can't be replayed")
                chain = (as_strided(key(root), value, None),)
            replayed = _replayed(root, chain)
            requires_grad, base = replayed.requires_grad, replayed._base
        if requires_grad and not value.requires_grad:
            if value._base is not None:
                raise UnsupportedError(f"result {index}: sizes were changed in place after a tensor was detached")
            return (*chain, _DETACH)
        if base is not None and not requires_grad and (value._base is None or value._base.size() != base.size()):
            raise UnsupportedError(f"result {index}: sizes were changed in place after a tensor was detached")
        if value.requires_grad and not requires_grad:
            raise UnsupportedError(f"result {index} requires grad, what it is a view of does not")
        return chain


def _check_history(index: int, value: torch.Tensor) -> None:
    """Raises for a part of a tensor that was then written: autograd does not follow views that were made together."""
    try:
        value.grad_fn  # noqa: B018 (asking raises)
    except RuntimeError as error:
        raise UnsupportedError(f"result {index}: {str(error).partition('.')[0]}") from error


def _is_whole(value: torch.Tensor) -> bool:
    """Whether `value` shows all of its memory, each element once."""
    return value.untyped_storage().nbytes() == value.numel() * value.itemsize


def _is_row_by_row(value: torch.Tensor, root: torch.Tensor) -> bool:
    """Whether `value` and what it is a view of both show all of its memory in order."""
    return all(_is_whole(each) and each.is_contiguous() for each in (value, root))


def _fits(value: torch.Tensor, root: torch.Tensor, chain: tuple[ViewStep, ...]) -> bool:
    try:
        return key(_replayed(root, chain)) == key(value)
    except (RuntimeError, IndexError, ValueError):  # the root's sizes have changed since the view was made
        return False


def _replayed(root: torch.Tensor, chain: tuple[ViewStep, ...]) -> torch.Tensor:
    for step in chain:
        root = replay(step, root)
    return root
