"""The check before a call: arguments that share memory in another way than before get a program of their own."""

import pytest
import torch

import dovetail
from dovetail.errors import AliasMismatch, EagerWarning
from dovetail.runtime.checks.guard import Guard

pytestmark = pytest.mark.usefixtures("op_by_op")


def doubled_sum(x, y):
    x.mul_(2)
    return x + y


def test_overlap_in_a_later_call_is_compiled_anew():
    """Catches the program for independent arguments run on overlapping ones: silently wrong (pytorch#139789)."""
    before = dovetail.stats().variants
    compiled = torch.compile(doubled_sum, backend="dovetail")
    assert compiled(torch.ones(4), torch.ones(4)).tolist() == [3.0] * 4
    base = torch.ones(5)
    assert compiled(base[:4], base[1:]).tolist() == [4.0, 4.0, 4.0, 3.0]
    assert base.tolist() == [2.0] * 4 + [1.0]
    assert dovetail.stats().variants == before + 1


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

    before = dovetail.stats().variants
    compiled = torch.compile(fn, backend="dovetail")
    compiled(torch.ones(2), torch.ones(8), torch.ones(2))
    base = torch.ones(12)
    assert compiled(base[8:10], base[:8], base[2:4]).tolist() == [11.0, 11.0]
    base.fill_(1)
    assert compiled(base[4:6], base[:8], base[2:4]).tolist() == [11.0, 11.0]
    assert dovetail.stats().variants == before + 1


def test_neighbours_where_autograd_counts_versions():
    """Catches a program for independent arguments that runs on views of one tensor: eager raises in the backward."""

    def fn(x, y):
        made = x.sin()
        y.add_(1)
        return made

    compiled = torch.compile(fn, backend="dovetail")
    compiled(torch.ones(2, requires_grad=True) * 1, torch.ones(4)[2:])
    base = torch.ones(4, requires_grad=True) * 1
    with pytest.warns(EagerWarning, match="autograd saved a value that is written later"):
        result = compiled(base[:2], base[2:])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_views_of_what_a_written_argument_is_a_view_of():
    """Catches a shared version counter that the guard lets through, and tensors that it takes for having one."""
    guard = Guard(("x", "y", "z"), (8, 8, 8), 1, apart=((0, 0), (1, 1), (2, 0)))
    base = torch.ones(8)
    guard.check(base[:2], torch.ones(8)[2:4], base[4:6])
    guard.check(torch.ones(2), base[2:4], base[4:6])
    with pytest.raises(AliasMismatch, match="arguments x and y"):
        guard.check(base[:2], base[2:4], torch.ones(2))
