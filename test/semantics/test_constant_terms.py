"""Reductions of one constant, and choices of one tensor: what compilers fold where they should not."""

from collections.abc import Callable

import pytest
import torch
from differential import assert_same

import dovetail

SUMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "filled": lambda x: x.fill_(1).sum(0, keepdim=True),
    "filled, in double precision": lambda x: x.double().fill_(0.5).sum(),
    "filled, and scaled": lambda x: (x.fill_(1).view(10, -1) * 2).sum(1),
    "nothing, and some": lambda x: (x.int() * 0 + 3).sum(),
    "compared with itself": lambda x: (x.int() >= x.int()).view(10, -1).sum(1),
    "clamped to one": lambda x: x.int().clamp(5, 5).view(10, -1).sum(1),
    "multiplied": lambda x: x.int().fill_(2).view(-1, 20).prod(1),
}

CHOICES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "numbers": lambda x: torch.where(x > 0, 2.0, 2.0),
    "numbers, added up": lambda x: torch.where(x > 0, 2.0, 2.0).view(10, -1).sum(1),
    "a sum": lambda x: torch.where(x > 0, x.sum(), x.sum()),
    "one element": lambda x: torch.where(x > 0, x.sum(0, keepdim=True), x.sum(0, keepdim=True)),
    "a row beside a column": lambda x: torch.where(x[:, None] > 0, x[None] * 1.5, x[None] * 1.5),
    "of more dimensions": lambda x: torch.where(x[:, None, None] > 0, x[:3, None] * 2, x[:3, None] * 2),
    "masked": lambda x: torch.masked_fill(x.sum(), x > 0, x.sum()),
}


@pytest.mark.parametrize("function", SUMS.values(), ids=SUMS)
def test_each_term_counts(function: Callable[[torch.Tensor], torch.Tensor]):
    """Would catch IREE's vectors, which add a constant once for all lanes: 8192 for 524287 (fuzz seed 2100)."""
    assert_same(function, torch.arange(1000.0), calls=1, train=False)


@pytest.mark.parametrize("open_sizes", [False, True])
def test_a_choice_is_as_large_as_its_condition(open_sizes: bool):
    """Would catch torch-mlir, which folds `where(c, x, x)` to `x`: all but its first elements were left unwritten."""
    sizes = (50, 40, 30) if open_sizes else (50,)
    first, *later = [(torch.arange(float(size)) - size // 2,) for size in sizes]
    assert_same(lambda x: [each(x) for each in CHOICES.values()], *first, later=later, dynamic=open_sizes, train=False)


@pytest.mark.host
def test_what_a_kernel_would_lose_is_computed_apart():
    """Would catch a region that a check of IREE's text refuses, and that then runs eagerly instead of in two parts."""
    dovetail.stats(reset=True)
    compiled = torch.compile(lambda x: x.fill_(1).sum(), backend="dovetail", fullgraph=True)
    assert compiled(torch.zeros(1000)).item() == 1000
    found = dovetail.stats()
    assert not found.eager
    assert any("would lose terms" in failure for failure in found.failures)
