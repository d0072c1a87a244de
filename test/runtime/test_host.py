"""What the host's functions call beside regions and ATen."""

import torch

import dovetail
from dovetail.runtime.host import HELPERS


def test_gradients_that_are_laid_out_count() -> None:
    """Catches a copy of a gradient, made since eager's lies otherwise, that `stats()` does not show."""
    dovetail.stats(reset=True)
    gradient = torch.arange(6.0).view(2, 3, 1)
    assert HELPERS["in_order"](gradient, (3, 1, 7)) is gradient
    assert not dovetail.stats().copies
    turned = HELPERS["in_order"](gradient, (1, 2, 1))
    assert turned.stride() == (1, 2, 1)
    assert torch.equal(turned, gradient)
    assert dovetail.stats().copies == {"gradient in another memory layout than eager's": 1}
