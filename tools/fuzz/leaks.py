"""What lives on when a call's arguments and results are dropped: memory of theirs, what it left for a backward.

Memory is told apart from tensors, since an alias of a tensor keeps the one without the other.
"""

import gc
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import torch
from torch.multiprocessing.reductions import StorageWeakRef

NODE = "a node of autograd's graph"


@dataclass(frozen=True)
class Watched:
    """Weak references, by name, to the memory of tensors, and to those nodes of their history that Python knows.

    A compiled call is such a node, with all that it keeps, and so is one of a custom function.
    """

    memory: Mapping[str, StorageWeakRef] = field(default_factory=dict)
    nodes: tuple[weakref.ref, ...] = ()

    def alive(self) -> tuple[str, ...]:
        """The names of what is still there, though nobody holds what was watched."""
        if self._alive():
            gc.collect()
        return self._alive()

    def _alive(self) -> tuple[str, ...]:
        names = [name for name, storage in self.memory.items() if not storage.expired()]
        return (*names, *([NODE] if any(node() is not None for node in self.nodes) else []))


def watched(tensors: Mapping[str, torch.Tensor], state: Iterable[torch.Tensor]) -> Watched:
    """What should go with `tensors`; nothing where the history of `state` goes on, which may hold on to all."""
    kept = list(state)
    if any(_grad_fn(tensor) is not None for tensor in kept):
        return Watched()
    held = {tensor.untyped_storage()._cdata for tensor in kept}
    storages = {name: tensor.untyped_storage() for name, tensor in tensors.items()}
    memory = {name: StorageWeakRef(each) for name, each in storages.items() if each._cdata not in held}
    return Watched(memory, tuple(weakref.ref(node) for node in _nodes(tensors.values())))


def _nodes(tensors: Iterable[torch.Tensor]) -> Iterator[torch.autograd.function.BackwardCFunction]:
    """Those of the tensors' history that are objects of Python's."""
    waiting = [_grad_fn(tensor) for tensor in tensors]
    seen = set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        waiting += [each for each, _ in node.next_functions]
        if isinstance(node, torch.autograd.function.BackwardCFunction):
            yield node


def _grad_fn(tensor: torch.Tensor) -> torch.autograd.graph.Node | None:
    """None where the history of a view may not be asked for."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None
