"""Products of large numbers are rounded before something is subtracted from them."""

import pytest
import torch


@pytest.mark.parametrize("scale", [1e9, 1e20])
def test_gradient_of_a_scaled_softmax(scale: float):
    """It was NaN: computed again, the product was not rounded before a row's largest was taken from it."""
    given = torch.linspace(-2, 3, 63).reshape(7, 9)

    def scaled(x: torch.Tensor) -> torch.Tensor:
        return (x * scale).softmax(1) * x

    gradients = []
    for function in (scaled, torch.compile(scaled, backend="dovetail")):
        x = given.clone().requires_grad_()
        function(x).sum().backward()
        gradients.append(x.grad)
    torch.testing.assert_close(gradients[1], gradients[0])
