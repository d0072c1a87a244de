"""Whether tracing gives the user's tensors the memory that eager gives them: one write must change the same ones."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch.utils._pytree import tree_leaves

from dovetail.dialects.torch_facts.empty import is_empty
from dovetail.frontend.observe.alias_groups import storage
from dovetail.frontend.observe.run_facts import EagerRun
from dovetail.frontend.observe.transforms import unwrapped
from dovetail.frontend.observe.wrapped_arguments import is_wrapper, plain_tensors


def differing_node(run: EagerRun, arguments: Sequence, values: Mapping[str, object]) -> str | None:
    """The first node of a traced run whose result lies in other memory than in the eager `run`; None where none does.

    Only memory that is written counts. PyTorch's tracing replaces some functions by its own, which may copy what eager
    returns as it is. `values` are the results by node, `arguments` those of the traced run.
    """
    traced: dict[int, int] = {}
    eager: dict[int, int] = {}
    for name, seen, found in _pairs(run, arguments, values):
        is_written = seen in run.memories or eager.get(found, seen) in run.memories
        if is_written and (traced.get(seen, found) != found or eager.get(found, seen) != seen):
            return name
        traced.setdefault(seen, found)
        eager.setdefault(found, seen)
    return None


def _pairs(run: EagerRun, arguments: Sequence, values: Mapping[str, object]) -> Iterator[tuple[str, int, int]]:
    """Node by node, the memory of each tensor in the eager and in the traced run."""
    held = Counter(storage(argument) for argument in run.arguments if isinstance(argument, torch.Tensor))
    # Arguments of one storage that have no element in common are independent in the traced run.
    several = {each for each, count in held.items() if count > 1}
    for seen, found in zip(run.arguments, arguments, strict=True):
        if isinstance(seen, torch.Tensor) and storage(seen) not in several:
            yield "", storage(seen), storage(found)
    for name, memories in run.memories_of.items():
        results = tree_leaves(values.get(name))
        if any(is_wrapper(result) for result in results):
            continue
        tensors = [unwrapped(tensor) for tensor in plain_tensors(results)]
        for seen, tensor in zip(memories, tensors, strict=True):
            if not is_empty(tensor) and seen not in several:
                yield name, seen, storage(tensor)
