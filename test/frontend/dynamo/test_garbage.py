"""When the garbage collector looks at all objects."""

import gc
import weakref

import pytest
import torch

from dovetail.frontend.dynamo import garbage
from dovetail.torch_backend import dovetail

THRESHOLD = (700, 10, 10)


class _Ring:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def thresholds():
    """Those that the user chose."""
    before = gc.get_threshold()
    gc.set_threshold(*THRESHOLD)
    yield
    gc.set_threshold(*before)


def _noting(seen):
    def backend(graph, example_inputs):
        seen.append(gc.get_threshold())
        dropped = weakref.ref(_Ring())
        kept = [[] for _ in range(20 * THRESHOLD[0])]
        assert kept
        assert dropped() is None, "what a compilation drops is collected"
        return graph

    return backend


def _compiled(backend):
    return torch.compile(lambda x: x.sin() + 1, backend=backend)(torch.rand(3))


@pytest.mark.parametrize("resets", [False, True])
def test_all_objects_have_their_turn_afterwards(op_by_op, thresholds, monkeypatch, resets):
    """Catches a compilation that looks at all of PyTorch, or leaves garbage for ever, also once Dynamo was reset."""
    seen = []
    _compiled("dovetail")
    if resets:
        torch._dynamo.reset()
        _compiled("dovetail")
    _compiled(_noting(seen))
    assert gc.get_threshold() == THRESHOLD
    assert [each[:2] for each in seen] == [THRESHOLD[:2]]
    assert seen[0][2] > 1_000_000


def test_they_have_where_compiling_fails(op_by_op, thresholds):
    """Catches a collector that is left as it is while a graph compiles, since that raised."""

    def failing(graph, example_inputs):
        raise ValueError("a defect")

    _compiled("dovetail")
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="a defect"):
        _compiled(failing)
    assert gc.get_threshold() == THRESHOLD


def test_a_graph_that_dynamo_did_not_give(op_by_op, thresholds):
    """Catches a collector that waits for Dynamo's end where somebody else traces and asks for the backend."""
    graph = torch.fx.symbolic_trace(lambda x: x.sin() + 1)
    with torch._guards.tracing(torch._guards.TracingContext(None)):
        dovetail(graph, [torch.rand(3)])
    assert gc.get_threshold() == THRESHOLD


@pytest.fixture
def full_collections(thresholds):
    """The numbers of collections of all objects so far, by when each began."""
    gc.collect()
    seen = []

    def note(phase, info):
        if phase == "start" and info["generation"] == 2:
            seen.append(gc.get_stats()[2]["collections"])

    gc.callbacks.append(note)
    yield seen
    gc.callbacks.remove(note)


def _crowded(graph, example_inputs):
    """Makes so many objects that a full collection would be due, which needs a quarter more than there are."""
    kept.append([[] for _ in range(len(gc.get_objects()))])
    return graph


kept: list = []


def _go_on():
    """What a program does next: enough for a few collections of the youngest objects, and a full one if it is due."""
    return [[] for _ in range(3 * THRESHOLD[0] * THRESHOLD[1])]


def test_a_first_call_is_not_the_one_to_look_at_all(op_by_op, full_collections, monkeypatch):
    """Catches a first call in which Python looks at all of PyTorch, for what Dynamo and a backend have made."""
    monkeypatch.setattr(garbage, "_MOST", 1 << 30)  # the more there is in a process, the more `_crowded` makes
    _compiled("dovetail")
    _compiled(_crowded)
    _go_on()
    kept.clear()
    assert not full_collections


def test_many_compilations_leave_no_garbage_for_ever(op_by_op, full_collections, monkeypatch):
    """Catches a process that compiles again and again, and never looks at what that leaves behind."""
    monkeypatch.setattr(garbage, "_MOST", 0)
    _compiled("dovetail")
    _compiled(_crowded)
    _go_on()
    kept.clear()
    assert full_collections


def test_what_the_user_froze_stays_frozen(op_by_op, thresholds):
    """Catches a collector that looks again at what a user has had it leave alone."""
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        _compiled("dovetail")
        _compiled(_crowded)
        kept.clear()
        assert 0 < gc.get_freeze_count() <= before
    finally:
        gc.unfreeze()
