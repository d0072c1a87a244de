"""Products that are padded compute what eager does, as a CPU shows that is said to like even rows."""

import dataclasses

import pytest
import torch
from torch.nn import functional

from dovetail.passes.costs.cost_model import COSTS


def _loss(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, targets: torch.Tensor):
    logits = functional.linear(x, weight, bias)
    return functional.cross_entropy(logits, targets), logits, logits.softmax(-1).sum(0)


@pytest.mark.host
@pytest.mark.parametrize("words", [1003, 1025])
def test_rows_that_are_longer_add_nothing(words: int, op_by_op, monkeypatch: pytest.MonkeyPatch):
    """Would catch an exponential, or a NaN, of what is behind the end of rows in a loss, a result or a gradient."""
    monkeypatch.setitem(COSTS, "cpu", dataclasses.replace(COSTS["cpu"], odd_product=1.0))
    torch.manual_seed(0)
    given = [torch.randn(32, 64), torch.randn(words, 64), torch.randn(words)]
    targets = torch.randint(words, (32,))
    targets[::7] = -100

    def results(compute, dtype: torch.dtype) -> list[torch.Tensor]:
        leaves = [each.detach().to(dtype).requires_grad_() for each in given]
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype is torch.float32):
            made = compute(*leaves, targets)
        return [*(each.detach() for each in made), *torch.autograd.grad(sum(each.sum() for each in made), leaves)]

    compiled = torch.compile(_loss, backend="dovetail")
    exact, eager, ours = results(_loss, torch.float64), results(_loss, torch.float32), results(compiled, torch.float32)
    for got, theirs, true in zip(ours, eager, exact, strict=True):
        assert (got.dtype, got.stride()) == (theirs.dtype, theirs.stride())
        assert (got - true).norm() <= 3 * (theirs - true).norm() + torch.finfo(got.dtype).eps * true.norm()
