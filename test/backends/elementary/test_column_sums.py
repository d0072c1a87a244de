"""Sums of columns beside what takes the same elements: bits, errors, and what is stored between their loops."""

import re

import pytest
import torch

import dovetail

SIZES = (16, 32, 32, 32)
DIMS = (0, 1, 2)


def gradient(x: torch.Tensor, y: torch.Tensor, tangent: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Like the gradient of a batch norm behind which numbers are cut off; its two sums, too."""
    kept = torch.where(x * y - tangent <= 0, 0.0, tangent)
    total, product = kept.sum(DIMS), (kept * x).sum(DIMS)
    return kept - total / 7 - x * product, total, product


def elements(x: torch.Tensor, y: torch.Tensor, tangent: torch.Tensor, total: torch.Tensor, product: torch.Tensor):
    """The first of its results, of sums that are known."""
    return torch.where(x * y - tangent <= 0, 0.0, tangent) - total / 7 - x * product


@pytest.fixture(scope="module")
def numbers() -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.randn(SIZES) for _ in range(3)]


def test_what_is_computed_again_has_the_same_bits(numbers: list[torch.Tensor]):
    """Catches decisions and elements that a loop behind sums computes otherwise than the sums' own loop."""
    compiled, *sums = torch.compile(gradient, backend="dovetail")(*numbers)
    alone = torch.compile(elements, backend="dovetail")(*numbers, *sums)
    assert torch.equal(compiled, alone)


def test_errors_are_as_eagers(numbers: list[torch.Tensor]):
    """Catches sums that are added up in a longer row where two go together."""
    compiled, eager = torch.compile(gradient, backend="dovetail")(*numbers), gradient(*numbers)
    precise = gradient(*(each.double() for each in numbers))
    for got, wanted, exact in zip(compiled, eager, precise, strict=True):
        assert (got - exact).abs().max() <= 3 * (wanted - exact).abs().max()


def test_nothing_large_is_stored(numbers: list[torch.Tensor]):
    """Catches a plan that stores elements between its loops, which go through memory twice more then."""
    torch.compile(gradient, backend="dovetail")(*numbers)
    [graph] = dovetail.explain(gradient, *numbers).graphs
    stored = [int(each) for each in re.findall(r'"dovetail.transient"\(\) \{bytes = (\d+)', graph.ir)]
    assert stored
    assert max(stored) < numbers[0].nbytes // 8
