"""What ATen joins by rows, beside eager."""

import torch
from differential import assert_same

import dovetail


def test_steps_that_are_joined_are_read_where_they_lie():
    """Would catch a copy of the steps before a region of one op, and what it gave, and a wrong half of the result."""
    dovetail.stats(reset=True)
    leaves = [torch.randn(512, 512, requires_grad=True) for _ in range(2)]
    assert_same(lambda x, y: torch.cat([x[:, ::2] * 2, y + 1], 1), *leaves)
    stats = dovetail.stats()
    assert stats.library_calls["aten.mul.Scalar", "ATen computes what it joins where it lies in steps"] == 1
    assert not stats.copies
