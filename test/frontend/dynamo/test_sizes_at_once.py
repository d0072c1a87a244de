"""Who asks tensors for their sizes in the code that Dynamo makes: C's code where they are plain, else Dynamo's own."""

import pytest
import torch
from torch._dynamo import utils

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
