"""What hands on gradients that are differentiated, and raises where they must not be."""

import torch

from dovetail.untraced import untraced


def _apart(gradient: torch.Tensor) -> torch.Tensor:
    """What a function hands on: what is returned as it came counts as a view, which nobody may write in place."""
    return gradient.detach()


class Unchanged(torch.autograd.Function):
    """Hands a gradient on, and raises when it is differentiated if a tensor in `versions` has another one by then.

    Eager then recomputes checkpointed regions once more, from what these are.
    """

    @staticmethod
    def forward(ctx, versions, gradient):
        ctx.versions = versions
        return _apart(gradient)

    @staticmethod
    @untraced
    def backward(ctx, gradient):
        if any(tensor._version != version for tensor, version in ctx.versions):
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: a"
                " checkpointed region of a compiled function reads it, which eager recomputes from what it is now"
            )
        return None, gradient


class Once(torch.autograd.Function):
    """Hands gradients on, and says so when somebody differentiates them; unmarked they would count as constants."""

    @staticmethod
    def forward(ctx, reason, count, *roots_and_gradients):
        ctx.reason = reason
        return tuple(None if each is None else _apart(each) for each in roots_and_gradients[count:])

    @staticmethod
    @untraced
    def backward(ctx, *_):
        raise RuntimeError(
            f"the gradient of a compiled function can't be differentiated again: {ctx.reason}; run the function"
            " uncompiled"
        )
