"""Who asks tensors for their sizes in the code that Dynamo makes: C's code where they are plain, else Dynamo's own."""

import dis
import sys
from collections import Counter
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest
import torch
from torch._dynamo import utils
from torch._dynamo.eval_frame import _debug_get_cache_entry_list

pytestmark = pytest.mark.usefixtures("op_by_op")


class Named(torch.Tensor):
    """A subclass that runs Python for each of its methods."""


def asked(backend: str, x: torch.Tensor, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often Dynamo's own function is called in a call with three open sizes, after one that compiled."""
    torch._dynamo.reset()
    function = torch.compile(lambda x: x * x.shape[0] + x.shape[2], backend=backend, dynamic=True)
    assert function(x).shape == x.shape
    counted = []
    counting = torch._dynamo.disable(lambda x, dim: counted.append(dim) or x.size(dim))
    monkeypatch.setattr(utils, "call_size", counting)
    torch.testing.assert_close(function(x), x * x.shape[0] + x.shape[2])
    monkeypatch.undo()
    return len(counted)


def test_plain_tensors_are_asked_themselves(monkeypatch: pytest.MonkeyPatch):
    """Would catch a microsecond of each call for each open size; and code of other backends that is another one."""
    assert asked("dovetail", torch.ones(2, 3, 4), monkeypatch) == 0
    assert asked("dovetail", torch.nn.Parameter(torch.ones(2, 3, 4)), monkeypatch) == 0
    assert asked("eager", torch.ones(2, 3, 4), monkeypatch) == 3


def test_others_are_asked_by_dynamo(monkeypatch: pytest.MonkeyPatch):
    """Would catch Python of a subclass or a mode that Dynamo traces, since it did not switch itself off."""
    assert asked("dovetail", torch.ones(2, 3, 4).as_subclass(Named), monkeypatch) > 0
    with torch.device("cpu"):
        assert asked("dovetail", torch.ones(2, 3, 4), monkeypatch) > 0


def ran(x: torch.Tensor, *open_dims: int) -> Counter[str]:
    """What the third call of a function of `x` runs, by name, C's functions among it."""
    torch._dynamo.reset()
    torch._dynamo.maybe_mark_dynamic(x, open_dims)
    function = torch.compile(lambda x: x + 1, backend="dovetail")
    found: Counter[str] = Counter()

    def note(frame: FrameType, event: str, c_function: Any) -> None:
        if event in ("call", "c_call"):
            found[frame.f_code.co_name if event == "call" else c_function.__name__] += 1

    for _ in range(2):
        function(x)
    sys.setprofile(note)
    try:
        function(x)
    finally:
        sys.setprofile(None)
    return found


def test_an_open_size_costs_two_questions():
    """Would catch a step of ours in each call that a known size spares, in Python or by a helper of C's."""
    more = ran(torch.ones(4), 0) - ran(torch.ones(4))
    assert more == {"guard": 1, "size": 2}  # Dynamo's guard asks, and its code does for our program


def test_sizes_are_asked_for_without_a_dimension():
    """Would catch half of the time of each question, in which PyTorch parses the number of the dimension."""

    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x * x.shape[0] + x.shape[1]

    torch.compile(scaled, backend="dovetail", dynamic=True)(torch.ones(2, 3))
    (made,) = _debug_get_cache_entry_list(scaled.__code__)
    instructions = list(dis.get_instructions(made.code))
    calls = [call for load, call in pairwise(instructions) if load.argval == "size"]
    assert [(call.opname, call.arg) for call in calls] == [("PRECALL", 0), ("PRECALL", 0)]
