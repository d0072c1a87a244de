"""The events that ops leave in the log of an eager run."""

import pytest
import torch

from dovetail.errors import UnsupportedError
from dovetail.frontend.observe.dispatch_log import DispatchLog
from dovetail.frontend.observe.op_calls import Reshaped, Took, Wrote
from dovetail.frontend.observe.view_chains import Viewed


def _events(kind: type, run) -> list:
    log = DispatchLog()
    with log:
        run()
    return [event for event in log.events if isinstance(event, kind)]


def test_views_say_from_what_and_which_part():
    """Catches a chain of views that can't be replayed, since a step's source or part is another one."""
    x = torch.zeros(2, 6)
    split, flat = _events(Viewed, lambda: x.split(3, 1)[1].t())[1:]
    assert (split.callee, split.output_index) == (torch.ops.aten.split.Tensor, 1)
    assert (flat.callee, flat.output_index, flat.source) == (torch.ops.aten.t.default, -1, split.view)


@pytest.mark.parametrize(
    ("run", "kinds"),
    [
        (lambda x: x.add_(1), [Wrote]),
        (lambda x: x.t_(), [Reshaped]),
        (lambda x: torch._foreach_add_([x, x.clone()], 1), [Wrote, Wrote]),
        (lambda x: torch.add(x, x), []),
    ],
    ids=["in place", "metadata", "list", "function"],
)
def test_changes_are_told_apart(run, kinds: list[type]):
    """Catches a write that is taken for a change of sizes, or one of a list that is not seen."""
    events = _events((Wrote, Reshaped), lambda: run(torch.zeros(2, 2)))
    assert list(map(type, events)) == kinds


@pytest.mark.parametrize("training", [False, True])
def test_batch_norm_writes_when_it_trains(training: bool):
    """Catches running statistics that stay as they were: the schema does not say that they are written."""
    x, mean, var = torch.rand(2, 3), torch.zeros(3), torch.ones(3)
    run = torch.ops.aten.native_batch_norm.default
    events = _events(Wrote, lambda: run(x, None, None, mean, var, training, 0.1, 1e-5))
    assert [event.tensor is each for event, each in zip(events, (mean, var), strict=False)] == [True, True] * training


def test_operands_of_opaque_ops_are_noted():
    """Catches strides that a kernel sees, and that are asked of tracing, which decomposes what comes before."""
    (took,) = _events(Took, lambda: torch.bincount(torch.zeros(4, dtype=torch.int64)))
    assert took == Took("aten.bincount.default", ((1,), None, None))


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (lambda x: x.unfold(0, 2, 1).mul_(2), "a write through `unfold`, `expand`"),
        (lambda x: x.as_strided((2, 2), (1, 1))[0].mul_(2), "or strides that overlap"),
        (lambda x: torch.add(x[:3], 1, out=x[1:]), "reads a part of what it writes"),
        (lambda x: x.index_copy_(0, torch.tensor([3, 2, 1, 0]), x), "reads a part of what it writes"),
        (lambda x: x.scatter_(0, torch.tensor([3, 2, 1, 0]), x), "reads a part of what it writes"),
        (lambda x: x[1:].as_strided((2,), (1,), 0), "not all of its memory in order"),
    ],
    ids=["window", "row of a window", "overlap", "rows of itself", "elements of itself", "storage"],
)
def test_what_cannot_be_traced_is_refused(run, reason: str):
    """Catches wrong numbers where an op addresses memory that values don't have."""
    with pytest.raises(UnsupportedError, match=reason), DispatchLog():
        run(torch.zeros(4))
