"""`options={"memory_budget": ...}`: the same gradients for fewer saved bytes, random numbers included."""

import pytest
import torch
from differential import assert_same
from torch.nn.functional import dropout, layer_norm, softmax

import dovetail

pytestmark = pytest.mark.usefixtures("op_by_op")

BUDGETS = (1.0, 0.5, 0.0)


def block(x: torch.Tensor, w: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Two layers with products, normalisations and dropout: of each kind of value that may be saved."""
    for weight in (w, v):
        x = x + dropout(softmax(layer_norm(x, (8,)) @ weight, -1), 0.3) @ weight.tanh()
    return x.sum()


def arguments() -> list[torch.Tensor]:
    return [(torch.rand(8, 8) / 2).requires_grad_() for _ in range(3)]


@pytest.mark.parametrize("budget", BUDGETS)
def test_same_gradients(budget):
    """Catches a value computed again from other numbers: a mask drawn twice, or an argument written in between."""
    assert_same(block, *arguments(), options={"memory_budget": budget, "strict": True})


def test_argument_that_is_written():
    """Catches a product computed again from the new value of an argument that the call overwrites."""

    def fn(x, w):
        y = (x.detach() @ w).sigmoid() @ w
        x.data.add_(1)
        return y.sum()

    assert_same(fn, torch.rand(8, 8), torch.rand(8, 8, requires_grad=True), options={"memory_budget": 0})


@pytest.mark.parametrize("budget", [1.0, 0.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_branches(budget, sign):
    """Catches a branch whose backward takes another one's values, and random numbers that eager draws otherwise."""

    def then(x, w):
        return dropout((x @ w).tanh(), 0.5) @ (w @ w)

    def fn(x, w):
        y = torch.cond(x.sum() > 0, lambda x: then(x, w), lambda x: (x @ w.sin()).cos(), (x @ w,))
        return (y @ w).sigmoid().sum()

    x, w = arguments()[:2]
    assert_same(fn, (x.detach() * sign).requires_grad_(), w, options={"memory_budget": budget})


def test_smaller_budget_saves_less():
    """Catches an option that does not reach the pass."""
    saved = []
    for budget in BUDGETS:
        torch._dynamo.reset()
        dovetail.stats(reset=True)
        torch.compile(block, backend="dovetail", fullgraph=True, options={"memory_budget": budget})(*arguments())
        saved.append(dovetail.stats().saved_bytes)
    assert saved == sorted(saved, reverse=True)
    assert saved[0] > saved[-1] > 0
