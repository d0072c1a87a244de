"""Products of one matrix by several weights on a GPU, which are one product, against eager and float64."""

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import dovetail

ROWS, WIDTH = 2048, 16


def _gated(x: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
    return functional.silu(functional.linear(x, gate)) * functional.linear(x, up)


def _attended(x: torch.Tensor, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    q, k, v = (functional.linear(x, each).view(2, ROWS // 2, -1, 8) for each in (query, key, value))
    return (q * k.repeat(1, 1, 2, 1)).cos() + v.repeat(1, 1, 2, 1).sin()


def _checkpointed(*tensors: torch.Tensor) -> torch.Tensor:
    return checkpoint(_gated, *tensors, use_reentrant=False)


def _gradients(compute: Callable, tensors: list[torch.Tensor], dtype: torch.dtype) -> list[torch.Tensor]:
    leaves = [each.to(dtype).requires_grad_() for each in tensors]
    result = compute(*leaves)
    return [result.detach(), *torch.autograd.grad(result.square().sum(), leaves, allow_unused=True)]


def _weights(*rows: int) -> list[torch.Tensor]:
    return [torch.randn(ROWS, WIDTH), *(torch.randn(count, WIDTH) for count in rows)]


@pytest.mark.parametrize("compute", [_gated, _attended, _checkpointed])
def test_products(compute: Callable):
    """Catches parts of a product that another weight's rows made, in values and gradients, and calls apart."""
    torch.manual_seed(0)
    tensors = _weights(32, 16, 16) if compute is _attended else _weights(24, 24)
    exact, eager = (_gradients(compute, tensors, dtype) for dtype in (torch.float64, torch.float32))
    dovetail.stats(reset=True)
    ours = _gradients(torch.compile(compute, backend="dovetail"), tensors, torch.float32)
    assert ("aten.cat.default", "ATen copies several arguments by one launch") in dovetail.stats().library_calls
    assert not dovetail.stats().eager
    for got, theirs, true in zip(ours, eager, exact, strict=True):
        assert (got - true).norm() <= 3 * (theirs - true).norm() + torch.finfo(torch.float32).eps * true.norm()


def test_a_weight_that_is_written():
    """Catches a weight that is joined as it was before it was written, or after."""
    torch.manual_seed(0)

    def twice(x: torch.Tensor, weight: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        first = functional.linear(x, weight) + functional.linear(x, other)
        weight.mul_(2)
        return first * functional.linear(x, weight)

    given = _weights(24, 24)
    results = []
    for compute in (twice, torch.compile(twice, backend="dovetail")):
        tensors = [each.clone() for each in given]
        results.append((compute(*tensors), *tensors))
    for got, theirs in zip(*results, strict=True):
        torch.testing.assert_close(got, theirs)
