"""An optimizer's step on a GPU, whose regions are launched at once: eager's values and versions."""

import copy
import threading
from collections.abc import Callable

import pytest
import torch
from torch import nn

import dovetail
from dovetail.runtime.updates import Updates

pytestmark = pytest.mark.cuda

SHAPES = [(768, 768), (768,), (33, 65), (5, 3)] * 9
"""So many that launches of one kernel are joined."""


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each call ran at once."""
    made: list[bool] = []
    at_once = Updates.at_once
    monkeypatch.setattr(Updates, "at_once", lambda *given: bool(made.append(at_once(*given)) or made[-1]))
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    return made


def twins(dtype: torch.dtype = torch.float32) -> tuple[list[nn.Parameter], list[nn.Parameter], Callable, Callable]:
    """Parameters, equal ones, eager's step of those, and the compiled step of these."""
    torch.manual_seed(0)
    own = [nn.Parameter(torch.randn(*shape).to("cuda", dtype)) for shape in SHAPES]
    other = copy.deepcopy(own)
    for one, two in zip(own, other, strict=True):
        one.grad = torch.randn_like(one)
        two.grad = one.grad.clone()
    eager, compiled = (torch.optim.AdamW(each, capturable=True) for each in (own, other))
    return own, other, eager.step, torch.compile(compiled.step, backend="dovetail")


def same(own: list[nn.Parameter], other: list[nn.Parameter]) -> None:
    torch.testing.assert_close(own, other, rtol=2e-6, atol=1e-6)


def test_steps(tried: list[bool]) -> None:
    """Catches a moment or a count that a kernel of another region was given, and versions that don't move."""
    own, other, eager, compiled = twins()
    for _ in range(4):
        versions = [each._version for each in other]
        eager(), compiled()
        same(own, other)
        assert all(each._version > before for each, before in zip(other, versions, strict=True))
    assert all(tried)
    assert len(tried) == 4
    assert not dovetail.stats().copies


def test_streams_and_threads(tried: list[bool]) -> None:
    """Catches launches on another stream than torch's current one, and a thread that has used no GPU yet."""
    own, other, eager, compiled = twins()
    eager(), compiled()
    stream = torch.cuda.Stream()
    gradients = [each.grad.clone() for each in other]
    for turn in range(10):
        for one, gradient in zip(own, gradients, strict=True):
            one.grad.copy_(gradient * turn)
        torch.cuda.synchronize()
        eager()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(2_000_000)
            for two, gradient in zip(other, gradients, strict=True):
                two.grad.copy_(gradient * turn)
            compiled()
        stream.synchronize()
    thread = threading.Thread(target=compiled)
    eager(), thread.start(), thread.join()
    torch.cuda.synchronize()
    same(own, other)
    assert all(tried)


def test_captured_by_the_user(tried: list[bool]) -> None:
    """Catches launches that a graph does not see."""
    own, other, eager, compiled = twins()
    eager(), compiled()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        compiled()
    for _ in range(3):
        eager(), graph.replay()
    same(own, other)
    assert all(tried)


def test_data_that_lies_elsewhere(tried: list[bool]) -> None:
    """Catches an address of the call before, and a kernel that faults on memory that is not aligned."""
    own, other, eager, compiled = twins()
    eager(), compiled()
    other[0].data = other[0].data.clone()
    eager(), compiled()
    same(own, other)
    other[1].data = torch.empty(769, device="cuda")[1:].copy_(other[1].data)
    eager(), compiled()
    same(own, other)
    assert tried == [True, True, False]


def test_overlap(tried: list[bool]) -> None:
    """Catches two tensors that share memory, of which kernels update each as if it were alone."""

    def fn(x: torch.Tensor, y: torch.Tensor) -> None:
        x.mul_(2)
        y.add_(1)

    compiled, memory = torch.compile(fn, backend="dovetail"), torch.randn(200, device="cuda")
    for start in (64, 32, 128):
        x, y = memory[:64], memory[start : start + 64]
        before = memory.clone()
        compiled(*(torch.empty(0, device="cuda").set_(each) for each in (x, y)))
        found = memory.clone()
        memory.copy_(before)
        fn(x, y)
        assert torch.equal(found, memory)
    assert tried[0]
    assert tried[-1]
