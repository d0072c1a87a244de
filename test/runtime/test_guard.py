"""The check before a call: a mutated argument that shares memory in a later call is refused, never computed wrongly."""

import pytest
import torch

from dovetail.errors import UnsupportedError


def doubled_sum(x, y):
    x.mul_(2)
    return x + y


def test_overlap_in_a_later_call_is_refused_before_anything_ran():
    """Catches the program for independent arguments run on overlapping ones: silently wrong (pytorch#139789)."""
    compiled = torch.compile(doubled_sum, backend="dovetail")
    assert compiled(torch.ones(4), torch.ones(4)).tolist() == [3.0] * 4
    base = torch.ones(5)
    with pytest.raises(UnsupportedError, match=r"argument L\['x'\] is mutated and overlaps argument L\['y'\]"):
        compiled(base[:4], base[1:])
    assert base.tolist() == [1.0] * 5


def test_neighbours_in_one_storage_are_independent():
    """Catches a guard that refuses what merely shares a storage."""
    compiled = torch.compile(doubled_sum, backend="dovetail")
    compiled(torch.ones(4), torch.ones(4))
    base = torch.ones(8)
    for left, right in ((base[:4], base[4:]), (base[4:], base[:4])):
        compiled(left, right)
    assert base.tolist() == [2.0] * 8


def test_arguments_that_nothing_writes_may_overlap():
    """Catches a guard where there is nothing to guard against."""
    compiled = torch.compile(lambda x, y: x + y, backend="dovetail")
    compiled(torch.ones(4), torch.ones(4))
    base = torch.arange(5.0)
    assert compiled(base[:4], base[1:]).tolist() == [1.0, 3.0, 5.0, 7.0]


def test_readers_may_overlap_beside_a_mutated_argument():
    """Catches a check of neighbours only: the wide reader below starts first and ends last."""

    def fn(x, wide, narrow):
        x.add_(wide.sum() + narrow.sum())
        return x

    compiled = torch.compile(fn, backend="dovetail")
    compiled(torch.ones(2), torch.ones(8), torch.ones(2))
    base = torch.ones(12)
    assert compiled(base[8:10], base[:8], base[2:4]).tolist() == [11.0, 11.0]
    with pytest.raises(UnsupportedError, match=r"argument L\['x'\] is mutated and overlaps argument L\['wide'\]"):
        compiled(base[4:6], base[:8], base[2:4])
