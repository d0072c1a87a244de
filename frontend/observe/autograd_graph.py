"""Which memory autograd saved for its backward, in the eager run, and on the way of which results.

A compiled program may save other values, or compute them anew; it must refuse all the same where the user has changed
what eager would have saved.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass as is_wrapper
from torch.utils._pytree import tree_leaves

from dovetail.dialects.by_key import by_key
from dovetail.errors import UnsupportedError
from dovetail.frontend.observe.alias_groups import root, storage
from dovetail.frontend.observe.transforms import unwrapped

Edge = tuple[torch.autograd.graph.Node, int]
"""A node of autograd's graph, and the number of one of its results."""


def reachable(tensors: Iterable) -> set[torch.autograd.graph.Node]:
    """The nodes of autograd's graph that a backward from `tensors` would run."""
    return {*nodes_on_the_way(tensor for tensor in tensors if isinstance(tensor, torch.Tensor) and not tensor.is_leaf)}


def edges(value) -> set[Edge]:
    """Where gradients of a tensor go, and by way of what it is a view of, once it is written."""
    tensors = {value, root(value)} if isinstance(value, torch.Tensor) else set()
    found = map(torch.autograd.graph.get_gradient_edge, filter(is_followed, tensors))
    return {(edge.node, edge.output_nr) for edge in found}


def is_followed(tensor: torch.Tensor) -> bool:
    """Whether gradients reach the tensor: a view that was made under `no_grad` only says so, as its base does."""
    return tensor.requires_grad and not (tensor._base is not None and tensor._base.requires_grad and tensor.is_leaf)


def nodes_on_the_way(
    tensors: Iterable[torch.Tensor], known: Iterable[torch.autograd.graph.Node] = ()
) -> list[torch.autograd.graph.Node]:
    """The nodes that gave `tensors` their values, without those that are `known`."""
    pending, seen, found = [tensor.grad_fn for tensor in tensors], set(known), []
    while pending:
        node = pending.pop()
        if node is not None and node not in seen:
            seen.add(node)
            found.append(node)
            pending.extend(following for following, _ in node.next_functions)
    return found


def saved_by(nodes: Iterable[torch.autograd.graph.Node], slices: Mapping = MappingProxyType({})) -> list[torch.Tensor]:
    """What `nodes` saved, each sharing its version counter.

    What a slice's in-place update saved can't be asked for: `slices` has it, by node. What a custom function keeps
    without saving it counts as saved: eager would compute with what it holds by then.

    Raises:
        UnsupportedError: where something saved was written later, so that eager's backward always raises.
    """
    return [tensor for node in nodes for tensor in (*_saved(node), *slices.get(node, ()))]


def frees(node: torch.autograd.graph.Node) -> bool:
    """Whether `node` lets go of something when it has run, so that it can't run again."""
    found = (_unpacked(node, name) for name in _names(node))
    is_any = (values is None or any(value is not None for value in values) for values in found)
    return node.name().endswith("CopySlices") or any(is_any)


def version(value) -> int:
    """A tensor's version counter; 0 for what has none."""
    return value._version if isinstance(value, torch.Tensor) and not value.is_inference() else 0


def counted_with(tensor: torch.Tensor, others: Sequence[torch.Tensor]) -> list[int]:
    """The positions of those of the `others` that have the version counter of `tensor`, which this moves."""
    before = [version(other) for other in others]
    if not tensor.is_inference():
        torch.autograd.graph.increment_version(tensor)
    return [index for index, (other, old) in enumerate(zip(others, before, strict=True)) if version(other) > old]


def sharing(
    counted: Sequence[Sequence[torch.Tensor]], saved: Mapping[int, Sequence[torch.Tensor]]
) -> list[tuple[int, ...]]:
    """For each of those `counted`, the positions at which one `saved` has the version counter of one of its tensors.

    Moves the counters: nothing more can be asked of autograd's graph afterwards.
    """
    by_memory = by_key((_memory(tensor), (index, tensor)) for index, tensors in saved.items() for tensor in tensors)
    found: list[tuple[int, ...]] = []
    for tensors in counted:
        positions: set[int] = set()
        for each in tensors:
            near = by_memory.get(_memory(each), [])
            moved = counted_with(each, [tensor for _, tensor in near]) if near else []
            positions.update(near[position][0] for position in moved)
        found.append(tuple(sorted(positions)))
    return found


def _memory(tensor: torch.Tensor) -> int | None:
    """What is equal for tensors that may share a counter: each wrapper has a storage of its own, an alias too."""
    return None if is_wrapper(tensor) else storage(tensor)


def _saved(node: torch.autograd.graph.Node) -> Iterator[torch.Tensor]:
    for name in _names(node):
        found = [unwrapped(value) for value in _unpacked(node, name) or () if isinstance(value, torch.Tensor)]
        yield from (tensor for tensor in found if not tensor.is_inference())
    yield from getattr(node, "stashed", ())


def _names(node: torch.autograd.graph.Node) -> list[str]:
    return [name for name in dir(node) if name.startswith("_raw_saved_")]


def _unpacked(node: torch.autograd.graph.Node, name: str) -> list | None:
    """What `node` saved; None if a hook has packed it: it has no version to check, and asking would run the hook."""
    if any(leaf is not None and leaf.unpack_hook is not None for leaf in tree_leaves(getattr(node, name))):
        return None
    public = "saved_tensors" if name == "_raw_saved_tensors" else name.removeprefix("_raw")
    try:
        return tree_leaves(getattr(node, public))
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        raise UnsupportedError(
            f"autograd saved a value that is written later: {str(error).split(' Hint:')[0]}"
        ) from error
