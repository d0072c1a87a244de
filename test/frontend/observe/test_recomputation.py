"""What eager's recomputation of a checkpointed region does besides giving values: such a region runs as in eager."""

from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F
from differential import assert_same
from torch import nn
from torch.utils.checkpoint import checkpoint

pytestmark = [
    pytest.mark.filterwarnings("ignore::dovetail.errors.EagerWarning"),
    pytest.mark.usefixtures("op_by_op"),
]


class Checkpointed(nn.Module):
    def __init__(self, inner: nn.Module, is_reentrant: bool):
        super().__init__()
        self.inner, self.is_reentrant = inner, is_reentrant

    def forward(self, x):
        return checkpoint(self.inner, x, use_reentrant=self.is_reentrant) + 0


def normalized() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Tanh())


def numbers() -> torch.Tensor:
    return torch.linspace(-1, 1, 12).reshape(3, 4)


@pytest.mark.parametrize("is_reentrant", [False, True])
def test_statistics_are_updated_again(is_reentrant):
    """Catches batch norm's statistics, updated once where eager's backward updates them again."""

    def after_a_step(compiled: bool) -> list[torch.Tensor]:
        module = normalized()
        torch._dynamo.reset()
        layer = Checkpointed(module, is_reentrant)
        call = torch.compile(layer, backend="dovetail", fullgraph=True) if compiled else layer
        x = numbers().requires_grad_()
        call(x).square().sum().backward()
        return [*module.buffers(), *(each.grad for each in [x, *module.parameters()])]

    expected = after_a_step(compiled=False)
    assert expected[2].item() == 2, "eager updates once: there is nothing to catch"
    torch.testing.assert_close(after_a_step(compiled=True), expected)


def test_writes_of_what_came_before():
    """Catches the same for a tensor of the call, which the region has by its closure."""

    def fn(x):
        total = x * 2
        return checkpoint(lambda x: total.add_(1).sum() * x.exp(), x, use_reentrant=False)

    assert_same(fn, numbers().requires_grad_(), eager=True, graphs=0, train=False)


def test_writes_of_its_own():
    """Catches a refusal of all regions that write: here it is memory of their own."""

    def fn(x):
        return checkpoint(lambda x: (x * 2).add_(1).sin().mul_(3) * x, x, use_reentrant=False)

    assert_same(fn, numbers().requires_grad_())


@pytest.mark.parametrize("needs_gradient", [True, False])
def test_reentrant_result(needs_gradient):
    """Catches gradients of parameters where eager's result has none, as no argument of `checkpoint` needs one."""
    results = []
    for compiled in (False, True):
        module = Checkpointed(nn.Sequential(nn.Linear(4, 4), nn.Tanh()), is_reentrant=True)
        torch._dynamo.reset()
        call = torch.compile(module, backend="dovetail") if compiled else module
        with pytest.warns(UserWarning, match="requires_grad=True") if not needs_gradient else nullcontext():
            results.append(call(numbers().requires_grad_(needs_gradient)).requires_grad)
    assert results == [needs_gradient] * 2


def test_writes_of_what_a_region_saved():
    """Catches a gradient of the right value: eager's recomputation hands its backward the value after the write."""

    def fn(x):
        doubled = x * 2
        wave = doubled.sin()
        doubled.mul_(3)
        return (wave + doubled).exp()

    assert_same(
        lambda x: checkpoint(fn, x, use_reentrant=False), torch.linspace(0, 1, 5).requires_grad_(), eager=True, graphs=0
    )


@pytest.mark.parametrize("is_reentrant", [False, True])
def test_random_numbers_are_drawn_again(is_reentrant):
    """Catches a generator that the backward leaves where it is, though the user asked that it draws anew."""

    def fn(x):
        def body(x):
            return F.dropout(x, 0.5) * x

        return checkpoint(body, x, use_reentrant=is_reentrant, preserve_rng_state=False) + 0

    found = []
    for call in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        x = numbers().requires_grad_()
        torch.manual_seed(3)
        call(x).sum().backward()
        found.append((x.grad, torch.get_rng_state()))
    torch.testing.assert_close(found[1], found[0])


def test_region_that_draws_nothing_stays_compiled():
    """Catches a graph that runs eagerly for an option that changes nothing in it."""

    def fn(x):
        return checkpoint(torch.sin, x, use_reentrant=False, preserve_rng_state=False) + 0

    assert_same(fn, numbers().requires_grad_())
