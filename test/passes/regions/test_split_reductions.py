"""Errors of large sums to float64, which `make sweep` measures for many more; split_reductions.mlir has the IR."""

import pytest
import torch

from dovetail.tools.sweep.cpu import target_for_cpu
from dovetail.tools.sweep.large import LargeCase, check_large


@pytest.mark.parametrize(
    ("name", "shape", "dim"),
    [
        ("sum", (532_000,), None),
        ("sum of products", (1_000_003,), None),
        ("mean", (4096, 256), 0),
        ("softmax", (2, 50257), 1),
        ("var", (1009, 1013), 0),
        ("vector_norm", (1009, 1013), 1),
    ],
)
def test_error_is_near_that_of_aten(name, shape, dim):
    """A sum of 532,000 numbers was off by 4e-4, since they were added up one after the other."""
    assert check_large(LargeCase(name, shape, dim, torch.float32), target_for_cpu("host")) == ("", "")


def test_doubles_are_added_up_in_blocks():
    """float64 has no wider type to add up in."""
    assert check_large(LargeCase("sum", (1_000_003,), None, torch.float64), target_for_cpu("host")) == ("", "")


@pytest.mark.parametrize(
    "function",
    [lambda x: (-x).sum(1), lambda x: (x.t() * 2).sum(1), lambda x: (x * x[0]).sum(1)],
    ids=["negated", "turned", "contraction"],
)
def test_neighbours_are_not_added_up_one_by_one(function):
    """Numbers that grow slowly are rounded alike: sums of 1024 were off by 64, 114 and 12 epsilons."""
    x = (torch.arange(1.0, 2**20 + 1) / 2**20 + 5).view(1024, 1024)
    right = function(x.double())
    actual = torch.compile(function, backend="dovetail")(x)
    assert ((actual - right).abs() / right.abs()).max() < 3 * torch.finfo(torch.float32).eps
