"""What becomes another type again after it was bfloat16 is rounded, as eager's memory would."""

from collections.abc import Callable

import pytest
import torch


def remainder(x: torch.Tensor) -> torch.Tensor:
    product = x * 1.7
    return product - product.bfloat16().float()


def product(x: torch.Tensor) -> torch.Tensor:
    return (x.bfloat16() * 1.7).float()


def comparison(x: torch.Tensor) -> torch.Tensor:
    return x.bfloat16() * 1.7 > x * 1.7


def mixed(x: torch.Tensor) -> torch.Tensor:
    return (x.bfloat16() * 1.7).t() - x.t() * 1.7


SPECIAL = torch.tensor(
    [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-40, -3.39e38, 3.4e38, 1.00390625, 1.01171875]
)


@pytest.mark.parametrize("function", [remainder, product, comparison, mixed], ids=lambda each: each.__name__)
def test_conversions_round(function: Callable[[torch.Tensor], torch.Tensor]):
    """The remainder was 0, and the others were of numbers that no bfloat16 is."""
    x = torch.linspace(-3, 5, 7 * 9).bfloat16().float().reshape(7, 9)
    torch.testing.assert_close(torch.compile(function, backend="dovetail")(x), function(x), rtol=0, atol=1e-6)


def test_what_is_special_or_between_two():
    """NaN must stay NaN, what is too large become infinite, and of two numbers as near the even one be taken."""

    def rounded(x: torch.Tensor) -> torch.Tensor:
        return (x * 1.0000001192).bfloat16().float() * 1.0, (-x).bfloat16().float() + 0.0

    for actual, expected in zip(torch.compile(rounded, backend="dovetail")(SPECIAL), rounded(SPECIAL), strict=True):
        torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)


def test_gradient_of_losses_of_large_logits():
    """It was infinite: the backward took the largest of a row, rounded, from logits that were computed again."""
    generator = torch.Generator().manual_seed(0)
    given = (torch.randn(4, 16, generator=generator) * 6).bfloat16()

    def losses(x: torch.Tensor) -> torch.Tensor:
        return sum(each.log_softmax(1)[:, 0].sum() for each in (x, x + 0.1, x.exp()))

    gradients = []
    for function in (losses, torch.compile(losses, backend="dovetail")):
        x = given.clone().requires_grad_()
        function(x).backward()
        gradients.append(x.grad)
    torch.testing.assert_close(gradients[1], gradients[0])
