"""The eager path: a graph that can't be compiled runs as it is, counted and with a warning."""

import warnings
from collections.abc import Callable, Sequence

import torch
from torch.utils._pytree import tree_leaves

from dovetail.errors import AliasMismatch, EagerWarning
from dovetail.frontend.observe.alias_groups import alias_groups, neighbours, retains_grad
from dovetail.frontend.observe.wrapped_arguments import plain_tensors
from dovetail.runtime.stats import current


def eager_variant(function: Callable, arguments: Sequence, error: Exception) -> Callable:
    """`function` as a variant for calls whose arguments share memory as `arguments` do, needed because of `error`."""
    reason = " ".join(str(error).split())
    current().eager[reason] += 1
    warnings.warn(f"dovetail runs a graph eagerly: {reason}", EagerWarning, stacklevel=2)
    seen = _seen(arguments)

    def run(given: list) -> list:
        if _seen(given) != seen:
            raise AliasMismatch("the arguments share memory in another way")
        return function(*given)

    return run


def flat(results) -> list:
    """Results as Dynamo expects them: its own graphs return flat tuples, others might not."""
    return tree_leaves(results, is_leaf=lambda each: each is None)


def _seen(arguments: Sequence) -> tuple:
    """What distinguishes calls beyond what Dynamo guards: shared memory, and whose gradient autograd shall keep."""
    tensors = [each for each in plain_tensors(arguments) if each.layout is torch.strided]
    kept = tuple(index for index, each in enumerate(tensors) if retains_grad(each))
    return alias_groups(tensors), neighbours(tensors), kept
