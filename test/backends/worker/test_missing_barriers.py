"""Steps of a plan that touch the same memory, in the order in which IREE wrote them."""

from typing import Any

import pytest
import torch

import dovetail
from dovetail.backends.worker.missing_barriers import with_barriers

BARRIER = {"op": "barrier"}


def launch(*ranges: list[int | str]) -> dict[str, Any]:
    return {"op": "dispatch", "bindings": list(ranges)}


def copy(source: list[int | str], target: list[int | str]) -> dict[str, Any]:
    return {"op": "copy", "source": source, "target": target}


def fill(target: list[int | str]) -> dict[str, Any]:
    return {"op": "fill", "target": target}


WHOLE = [1, 0, 64]
MISSING = {
    "a copy of what a launch computes": (launch(WHOLE), copy([1, 0, 16], [0, 0, 16])),
    "a copy to where a launch reads": (launch(WHOLE), copy([0, 0, 16], [1, 16, 16])),
    "a launch on what is copied": (copy([0, 0, 16], [1, 0, 16]), launch(WHOLE)),
    "a copy of what is copied": (copy([0, 0, 16], [1, 0, 16]), copy([1, 8, 16], [0, 32, 16])),
    "two copies to one place": (copy([0, 0, 16], [1, 0, 16]), copy([0, 16, 16], [1, 15, 16])),
    "a launch on what is filled": (fill([1, 0, 64]), launch(WHOLE)),
    "of open sizes": (fill([1, 0, "%2"]), copy([1, "%3", 16], [0, 0, 16])),
}
NEEDLESS = {
    "two launches": (launch(WHOLE), launch(WHOLE)),
    "copies of one memory": (copy([0, 0, 16], [1, 0, 16]), copy([0, 0, 16], [1, 16, 16])),
    "neighbours": (fill([1, 0, 16]), copy([1, 16, 16], [0, 0, 16])),
    "a constant": (launch(WHOLE, [2, 0, 64]), copy([2, 0, 16], [0, 0, 16])),
    "other memory": (launch(WHOLE), fill([0, 0, 64])),
    "a barrier between": (launch(WHOLE), BARRIER, copy([1, 0, 16], [0, 0, 16])),
}


@pytest.mark.parametrize("case", MISSING)
def test_missing(case: str) -> None:
    """Catches what is read before it is written, now and then: another result in each call."""
    one, other = MISSING[case]
    assert with_barriers([one, other], 2) == [one, BARRIER, other]
    assert with_barriers([one, fill([0, 48, 16]), other, BARRIER], 2)[-3:] == [BARRIER, other, BARRIER]


@pytest.mark.parametrize("case", NEEDLESS)
def test_needless(case: str) -> None:
    """Catches steps that wait for each other where nothing tells."""
    assert with_barriers(NEEDLESS[case], 2) == list(NEEDLESS[case])


@pytest.mark.compiled
def test_parts_that_are_joined_twice() -> None:
    """Catches a copy of a joined tensor that runs beside the kernel which computes the first of its parts."""

    def fn(x, y):
        joined = torch.cat([x[:64] + y[:64], x[64:128] * y[64:128], x[128:]])
        joined = torch.cat([joined[:128], x[128:192] - y[128:192], x[192:]])
        return torch.cat([joined[:192], y[192:].exp()]) + 1

    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    dovetail.stats(reset=True)
    for seed in range(20):
        x, y = torch.rand(2, 256, 256, generator=torch.Generator().manual_seed(seed))
        torch.testing.assert_close(compiled(x, y), fn(x, y))
    assert dovetail.stats().launches == {"plan": dovetail.stats().regions}
