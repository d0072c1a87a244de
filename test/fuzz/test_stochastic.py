"""Random rounding changes what rounds, by about a unit in the last place, and nothing else."""

import pytest
import torch

from dovetail.tools.fuzz.stochastic import RandomRounding

X = torch.arange(1.0, 33.0) / 8


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_results_are_a_few_roundings_off(dtype: torch.dtype) -> None:
    """Catches noise that is not there, is the same in each run, or excuses more than rounding."""
    x = X.to(dtype)
    right = x.double().tanh()
    with RandomRounding(0):
        first = x.tanh()
    with RandomRounding(1):
        second = x.tanh()
    assert not torch.equal(first, second)
    for each in (first, second):
        assert each.dtype == dtype
        assert ((each.double() - right).abs() <= 3 * torch.finfo(dtype).eps * right.abs()).all()


def test_exact_results_stay() -> None:
    """Catches noise in exact numbers, after which every comparison of them would be excused."""
    with RandomRounding(0):
        results = (X * 2 + 0.5, X.sum(), X.amax(), X.flip(0).cumsum(0), (X > 2).float(), X.view(4, 8).t().contiguous())
    assert torch.equal(results[0], X * 2 + 0.5)
    assert results[1] == X.double().sum()
    assert results[2] == 4
    assert torch.equal(results[3].double(), X.double().flip(0).cumsum(0))
    assert torch.equal(results[4], (X > 2).float())
    assert results[5].is_contiguous()


def test_a_value_meets_itself() -> None:
    """Catches noise between a value and its copy or largest element: gradients that compare would be excused."""
    x = X.clone().requires_grad_()
    with RandomRounding(0):
        y = x.tanh()
        y.amax().backward()
        assert (y == y.amax()).sum() == 1
    assert x.grad is not None
    assert x.grad.count_nonzero() == 1


def test_random_numbers_and_layouts_stay() -> None:
    """Catches a generator that moves further than eager's, and strides that are not eager's."""
    torch.manual_seed(3)
    plain = torch.rand(5), torch.nn.functional.dropout(X, 0.5) != 0, torch.get_rng_state()
    torch.manual_seed(3)
    with RandomRounding(0):
        noisy = torch.rand(5), torch.nn.functional.dropout(X, 0.5) != 0, torch.get_rng_state()
        turned = X.view(4, 8).t().tanh()
    assert all(map(torch.equal, plain, noisy))
    assert turned.stride() == X.view(4, 8).t().tanh().stride()
