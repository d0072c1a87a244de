"""What capture says of a graph, whatever PyTorch's switches say."""

import pytest
import torch
from torch._functorch import config

from dovetail.frontend.capture import capture


@pytest.mark.parametrize("is_guessed", [True, False])
def test_gradients_lie_as_what_they_are_of(is_guessed: bool):
    """Would catch a default of some versions of PyTorch: a gradient of a transposed result is copied row by row."""
    graph = torch.fx.symbolic_trace(lambda x: x.t() * 2)
    with config.patch(guess_tangent_strides_as_outputs=is_guessed):
        captured = capture(graph, [torch.rand(4, 4, requires_grad=True)])
    [tangent] = captured.tangents
    assert tangent.meta["val"].stride() == (1, 4)
