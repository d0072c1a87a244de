"""Products, and what ends in one, are rounded before something is added to them."""

from collections.abc import Callable
from itertools import product

import pytest
import torch


def test_gradient_of_a_scaled_softmax():
    """It was NaN: computed again, the product was not rounded before a row's largest was taken from it."""
    given = torch.linspace(-2, 3, 63).reshape(7, 9)

    def scaled(x: torch.Tensor) -> torch.Tensor:
        return (x * 1e9).softmax(1) * x

    gradients = []
    for function in (scaled, torch.compile(scaled, backend="dovetail")):
        x = given.clone().requires_grad_()
        function(x).sum().backward()
        gradients.append(x.grad)
    torch.testing.assert_close(gradients[1], gradients[0])


def test_softmax_of_squares():
    """It was NaN: LLVM knows that a square is not -0.0, and left out the zero that was to keep it rounded."""

    def softmax(x: torch.Tensor) -> torch.Tensor:
        return (x * x).softmax(1)

    x = torch.linspace(-2e5, 3e5, 4000).reshape(4, 1000)
    torch.testing.assert_close(torch.compile(softmax, backend="dovetail")(x), softmax(x), rtol=0, atol=0)


ENDS_IN_PRODUCT: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "a product": lambda x: x * 1.7,
    "a square": lambda x: x.square(),
    "a negated product": lambda x: -(x * 0.3),
    "a product that is chosen": lambda x: torch.where(x > 0, x * 0.7, 0.25),
    "a view of a product": lambda x: (x * 0.9).reshape(8, -1).reshape(x.shape),
    "sin": torch.sin,
    "tanh": torch.tanh,
    "exp": torch.exp,
    "expm1": torch.expm1,
    "log1p": lambda x: x.abs().log1p(),
    "erf": torch.erf,
    "gelu": torch.nn.functional.gelu,
    "silu": torch.nn.functional.silu,
    "rsqrt": lambda x: (x.abs() + 1).rsqrt(),
}


@pytest.mark.parametrize(
    "dtypes",
    [
        (torch.float32, torch.bfloat16),
        pytest.param((torch.float64, torch.float16), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_difference_of_what_is_equal(dtypes: tuple[torch.dtype, ...]):
    """One of the two was subtracted from unrounded: what is left was not 0, half of the roots were NaN."""

    def differences(*tensors: torch.Tensor) -> list[torch.Tensor]:
        pairs = zip(tensors[::2], tensors[1::2], strict=True)
        return [(each(x) - each(y)).sqrt() for x, y in pairs for each in ENDS_IN_PRODUCT.values()]

    given = [torch.linspace(-3, 5, 4096, dtype=dtype).reshape(64, 64) for dtype in dtypes for _ in range(2)]
    found = torch.compile(differences, backend="dovetail")(*given)
    cases = product(dtypes, ENDS_IN_PRODUCT)
    wrong = [case for case, each in zip(cases, found, strict=True) if each.any()]
    assert not wrong


def test_signs_of_zeros():
    """Would catch a product of -0.0 that is 0.0 once it is rounded, or the other way around."""

    def sums(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return 1 / (x * y + x)

    x = torch.tensor([0.0, -0.0, 0.0, -0.0])
    y = torch.tensor([1.0, 1.0, -1.0, -1.0])
    torch.testing.assert_close(torch.compile(sums, backend="dovetail")(x, y), sums(x, y), rtol=0, atol=0)


def test_the_sum_of_products_that_cancel():
    """One of each two products was added to unrounded: the sums were not 0, half of their roots were NaN."""

    def sums(*tensors: torch.Tensor) -> list[torch.Tensor]:
        roots = []
        for x, y in zip(tensors[::2], tensors[1::2], strict=True):
            products = (x * y, (x * y).reshape(8, x.shape[1], 3, 11))
            roots += [total.sqrt() for each in products for total in (each.sum(1), each.mean(1, keepdim=True))]
        return roots

    given = []
    for dtype, pairs in ((torch.float32, 1), (torch.float64, 8)):
        half = torch.linspace(-3, 5, 8 * pairs * 33, dtype=dtype).reshape(8, pairs, 1, 33)
        factors = torch.cat([half, -half], 2), torch.cat([half.cos(), half.cos()], 2)
        given += [each.reshape(8, 2 * pairs, 33) for each in factors]
    for root in torch.compile(sums, backend="dovetail")(*given):
        torch.testing.assert_close(root, torch.zeros_like(root), rtol=0, atol=0)
