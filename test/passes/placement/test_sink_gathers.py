"""Losses that take few elements of what they compute, against eager and double precision."""

import pytest
import torch
from torch.nn import functional

SHAPES = ((4, 3), (3, 1000), (2, 70, 3, 5))


def losses(*tensors: torch.Tensor) -> list[torch.Tensor]:
    results = []
    for x, target in zip(tensors[::2], tensors[1::2], strict=True):
        results += [
            functional.cross_entropy(x, target, reduction="none"),
            functional.cross_entropy(x, target, ignore_index=1),
            (x * 3 - x.amax(1, keepdim=True)).gather(1, target.unsqueeze(1)),
            (x + 1).gather(0, target.unsqueeze(1)[:, :1] % len(x)),
        ]
    return results


def test_losses_are_eagers():
    """Catches elements that are gathered along another dimension, or meet others than they met."""
    torch.manual_seed(0)
    tensors = []
    for shape in SHAPES:
        classes = torch.randint(0, shape[1], (shape[0], *shape[2:]))
        tensors += [torch.randn(shape, requires_grad=True), classes]
    found = torch.compile(losses, backend="dovetail")(*tensors)
    expected = losses(*tensors)
    exact = losses(*(tensor.double() if tensor.is_floating_point() else tensor for tensor in tensors))
    for result, eager, right in zip(found, expected, exact, strict=True):
        assert result.shape == eager.shape
        error, allowed = (result - right).abs().max(), 3 * (eager - right).abs().max()
        assert error <= allowed + 2**-23 * right.abs().max()
    inputs = [tensor for tensor in tensors if tensor.is_floating_point()]
    gradients = [torch.autograd.grad(sum(each.sum() for each in results), inputs) for results in (found, expected)]
    for gradient, eager in zip(*gradients, strict=True):
        torch.testing.assert_close(gradient, eager)


def test_an_index_outside_raises():
    """Catches an error that went away with the gather it came from."""
    x, target = torch.randn(4, 8), torch.tensor([0, 1, 9, 3])
    with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
        torch.compile(functional.cross_entropy, backend="dovetail")(x, target)
