"""What was computed in bfloat16 is rounded before an op takes it, as eager's memory would."""

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


def test_conversions_round():
    """The remainder was 0, and the others were of numbers that no bfloat16 is."""

    def function(*given: torch.Tensor) -> list[torch.Tensor]:
        return [each(x) for each, x in zip((remainder, product, comparison, mixed), given, strict=True)]

    given = [torch.linspace(-3, 5, 7 * 9).bfloat16().float().reshape(7, 9) for _ in range(4)]
    found = torch.compile(function, backend="dovetail")(*given)
    torch.testing.assert_close(found, function(*given), rtol=0, atol=1e-6)


def less_its_largest(x: torch.Tensor) -> torch.Tensor:
    squares = x * x
    return squares - squares.amax(-1, keepdim=True)


def less_its_mean(x: torch.Tensor) -> torch.Tensor:
    return x - x.mean(-1, keepdim=True)


def steps(x: torch.Tensor) -> torch.Tensor:
    for _ in range(3):
        x = x * 1.7 + 0.3
    return x


def picked(x: torch.Tensor) -> torch.Tensor:
    scaled = (x * 1.7).clamp(max=3.1)
    return torch.cat([-scaled, scaled]).relu() / 0.7


def masked(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x * 1.7 + x > 2.7, x * 0.7, 0.0).floor() * 0.3


def overflown(x: torch.Tensor) -> torch.Tensor:
    return (x * 6.79e37).nan_to_num() - x


def sum_of_products(x: torch.Tensor) -> torch.Tensor:
    return (x * x[:1]).sum(0) - (x * 1.7).sum(0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, pytest.param(torch.float16, marks=pytest.mark.slow)], ids=str)
def test_each_step_has_eagers_bits(dtype: torch.dtype):
    """A region computed in float32 throughout: of a product less its row's largest, nothing was 0."""
    functions = (less_its_largest, less_its_mean, steps, picked, masked, overflown, sum_of_products)

    def all_of_them(x: torch.Tensor) -> list[torch.Tensor]:
        return [function(x) for function in functions]

    x = torch.linspace(-3, 5, 64 * 256).reshape(64, 256).to(dtype)
    for found, expected in zip(torch.compile(all_of_them, backend="dovetail")(x), all_of_them(x), strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


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
