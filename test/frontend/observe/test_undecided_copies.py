"""Copies of data's rows that eager does not make of one row: what shows them runs eagerly."""

import pytest
import torch

import dovetail
from dovetail.errors import EagerWarning


def shown(rows):
    return rows, rows.t().contiguous().add_(1)


UNDECIDED = {
    "contiguous": lambda x: shown(x[x[:, 0] > 0]),
    "reshape": lambda x: (rows := x[x[:, 0] > 0], rows.t().reshape(-1).mul_(2)),
    "both returned": lambda x: (rows := x[x[:, 0] > 0], rows.t().flatten()),
    "positions": lambda x: (found := x.nonzero(), found.contiguous().add_(1)),
}


@pytest.mark.parametrize("name", UNDECIDED)
def test_a_copy_that_data_decides_on(op_by_op, name):
    """One row that is turned is contiguous: eager returned a view, through which both are written, compiled a copy."""
    function = UNDECIDED[name]
    compiled = torch.compile(function, backend="dovetail", fullgraph=True)
    with pytest.warns(EagerWarning, match="decides whether this is a view or a copy"):
        compiled(torch.ones(3, 3))
    for count in (3, 1, 0, 2):
        x = (torch.arange(4) < count).float()[:, None].repeat(1, 3)
        for mine, theirs in zip(compiled(x), function(x), strict=True):
            assert torch.equal(mine.mul_(3), theirs.mul_(3))
            assert mine.stride() == theirs.stride()


def test_a_copy_that_nobody_sees(op_by_op):
    """Would catch rows that run eagerly for a copy inside of the call, or one that the user asked for."""
    compiled = torch.compile(
        lambda x: (
            x[x[:, 0] > 0].t().contiguous() * 2,
            x[x[:, 0] > 0].t().clone(memory_format=torch.contiguous_format),
        ),
        backend="dovetail",
        fullgraph=True,
    )
    dovetail.stats(reset=True)
    for count in (3, 1, 2):
        x = (torch.arange(4) < count).float()[:, None].repeat(1, 3)
        assert torch.equal(compiled(x)[0], torch.full((3, count), 2.0))
    assert not dovetail.stats().eager
