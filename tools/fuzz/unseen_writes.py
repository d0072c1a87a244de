"""Gradients that eager itself gets wrong: a saved value is written through `.data`, which autograd does not see.

Eager then differentiates at values that its forward never had ("In-place operations with autograd" in PyTorch's notes
on autograd), which shows when it is made to copy what it saves. There is no right answer to compare with.
"""

from collections.abc import Callable, Iterable

import torch

from dovetail.tools.fuzz.compare import Difference

UNSEEN_WRITE = "unseen write"


def copying_saved_values(fn: Callable) -> Callable:
    """`fn`, whose backward sees saved values as they were."""

    def call(*arguments):
        with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved.detach().clone(), lambda copy: copy):
            return fn(*arguments)

    return call


def is_gradient_only(found: Iterable[Difference]) -> bool:
    """Whether gradients have other values, and nothing else differs."""
    return {each.kind for each in found} == {"gradient"} and not any(each.what.endswith("has one") for each in found)
