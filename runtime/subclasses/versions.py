"""Version checks of wrapper subclasses: what the backward needs must not be changed before it runs.

Writing a wrapper moves its own version counter, not those of its parts, which are what the border saves and checks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch

from dovetail.dialects.statements.wrapped import Convention, Wrapped
from dovetail.runtime.autograd.node import is_compiled_call
from dovetail.untraced import untraced


@dataclass(frozen=True)
class BackwardReads:
    """Positions of the plain arguments and results whose memory the backward reads, where the user can reach it.

    `made` are all results that the border hands out, or views of such.
    """

    arguments: frozenset[int]
    results: frozenset[int]
    made: frozenset[int]


def check_wrappers(
    saved: BackwardReads, stated: Convention, results: Sequence, passed: Sequence, found: Sequence
) -> None:
    """Has the backward of the call that made `results` check the wrappers among arguments and results.

    `passed` is what the caller gave, `found` what it gets.
    """
    made = (results[position] for position in saved.made)
    tensor = next((result for result in made if result.grad_fn is not None), None)
    if tensor is None:
        return
    checked = [
        *_touching(stated.arguments, passed, saved.arguments, "argument"),
        *_touching(stated.results, found, saved.results, "result"),
    ]
    # An alias shares the counter, and does not keep the node alive that it would be kept by: that of a result, or of a
    # later write to an argument, which leads to this one.
    versions = [(what, tensor.detach(), tensor._version) for what, tensor in checked]
    if versions:
        _node(tensor).register_prehook(partial(_check, versions))


def _touching(entries: Sequence, tensors: Sequence, saved: frozenset[int], what: str) -> Iterator:
    for number, (entry, tensor) in enumerate(zip(entries, tensors, strict=True)):
        if isinstance(entry, Wrapped) and saved.intersection(entry.positions()):
            yield f"{what} {number}, a {type(tensor).__name__}", tensor


@untraced
def _check(versions: Sequence[tuple[str, torch.Tensor, int]], _gradients: Sequence) -> None:
    for what, tensor, version in versions:
        if tensor._version != version:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation:"
                f" {what}, is at version {tensor._version}; expected version {version} instead"
            )


def _node(tensor: torch.Tensor):
    """The program's node in autograd's graph, of a tensor that it made, maybe by views of its result."""
    nodes = [] if tensor.grad_fn is None else [tensor.grad_fn]
    for node in nodes:
        if is_compiled_call(node):
            return node
        nodes += [parent for parent, _ in node.next_functions if parent is not None]
    raise AssertionError("a result of a compiled call has no history that leads to it")
