"""`mode="reduce-overhead"` beside the CPU: no replay gives again what the host drew or computed for the recorded call.

On an emulated GPU a stand-in for graphs runs what was captured op by op, and refuses what a graph would do only once.
"""

from collections.abc import Callable

import pytest
import torch
from graph_stand_in import stand_in_for_graphs

from dovetail.runtime import program
from dovetail.runtime.stats import stats


@pytest.fixture(autouse=True)
def recorded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the GPU is emulated, regions run op by op and are recorded as if they launched."""
    stats(reset=True)
    if request.config.getoption("--device") == "cuda":
        return
    stand_in_for_graphs(monkeypatch, "cuda")
    halves = program.recorded_halves
    monkeypatch.setattr(program, "recorded_halves", lambda found, runs, _: halves(found, runs, found.regions))


def replayed(fn: Callable, *arguments: torch.Tensor) -> None:
    """Compares some calls with eager's."""
    compiled = torch.compile(fn, backend="dovetail", mode="reduce-overhead")
    for seed in range(5):
        found = []
        for function in (fn, compiled):
            torch.manual_seed(seed)
            found.append(function(*arguments))
        torch.testing.assert_close(found[1], found[0], rtol=0, atol=0)


def on_gpu() -> torch.Tensor:
    return torch.arange(4.0, device="cuda")


DRAWING = {
    "no operand": lambda x: x * torch.rand((), device="cpu"),
    "a constant": lambda x: x * torch.bernoulli(torch.tensor(0.5, device="cpu")),
    "copied": lambda x: x + torch.randn(4, device="cpu").to("cuda", non_blocking=True),
}


@pytest.mark.parametrize("name", DRAWING)
def test_numbers_that_the_cpu_draws(name: str) -> None:
    """Catches replays that all take the numbers which the CPU drew while the graph was captured."""
    replayed(DRAWING[name], on_gpu())
    assert not stats().recordings
    assert any("on the CPU" in reason for reason in stats().without_effect)


def test_what_is_computed_on_the_cpu() -> None:
    """Catches a graph that reads what an op put into the CPU's memory, which is given back after the capture."""
    replayed(
        lambda x: x + torch.tensor([3.0, 2.0, 1.0, 0.0], device="cpu").flip(0).to("cuda", non_blocking=True), on_gpu()
    )
    assert not stats().recordings


def test_a_number_on_the_cpu_that_is_returned() -> None:
    """Catches a result that is the recording's own number, which the caller wrote after the first replay."""

    def fn(x):
        return x * 2, torch.full((), 3.0, device="cpu")

    compiled = torch.compile(fn, backend="dovetail", mode="reduce-overhead")
    for _ in range(4):
        number = compiled(on_gpu())[1]
        assert number.item() == 3.0
        number.add_(1)


def test_a_number_that_is_the_same_in_each_call() -> None:
    """Catches a graph given up for a constant number on the CPU, a parameter of the kernel that takes it."""
    replayed(lambda x: x * torch.tensor(0.9, device="cpu") + torch.full((), 2.0, device="cpu"), on_gpu())
    assert stats().recordings == 1
