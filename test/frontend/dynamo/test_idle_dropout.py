"""Dropout that drops nothing is its argument: what is written to the result is written to the argument."""

import pytest
import torch
from differential import assert_same
from torch.nn.functional import dropout

pytestmark = pytest.mark.usefixtures("op_by_op")

IDLE = {
    "off": lambda x: dropout(x, 0.5, training=False),
    "with probability 0": lambda x: dropout(x, 0.0),
    "torch's own": lambda x: torch.dropout(x, 0.5, False),
    "by name": lambda x: dropout(input=x, p=0.5, training=False),
    "overload": lambda x: torch.ops.aten.dropout(x, 0.5, False),
    "module": torch.nn.Dropout(0.5).eval(),
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize("way", IDLE)
def test_write_behind_idle_dropout(way, grad):
    """Catches an argument that keeps its old value: PyTorch's tracing copies where eager does not (O2)."""

    def fn(x):
        made = IDLE[way](x)
        made.mul_(2)
        return x + 1, made, made.view(3, 1)

    assert_same(fn, torch.ones(3).requires_grad_(grad), prepare=lambda x: (x * 1,))


def test_checkpointed():
    """Catches the same inside of a checkpointed region, which is a graph of its own."""

    def inner(x):
        made = x.sin()
        dropout(made, 0.5, training=False).mul_(2)
        return made.exp()

    def fn(x):
        return torch.utils.checkpoint.checkpoint(inner, x, use_reentrant=False) + 1

    assert_same(fn, torch.ones(3).requires_grad_())


def test_empty():
    """Catches a copy of what has no elements: eager has none to drop."""

    def fn(x, y):
        dropout(x, 0.5).copy_(y)

    assert_same(fn, torch.ones(0, 2), torch.ones(0, 2).requires_grad_())


def test_dropout_that_drops():
    """Catches one that is taken for idle, and numbers that are drawn where all is dropped (J12)."""
    assert_same(lambda x: dropout(x, 0.5) + dropout(x, 1.0), torch.ones(64).requires_grad_())
    assert_same(lambda x: dropout(x, 1.0), torch.ones(4, dtype=torch.int64))
