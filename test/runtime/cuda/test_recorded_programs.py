"""Whole programs whose halves are replayed: everything that the caller sees is as without."""

import copy
import threading
from collections.abc import Callable, Iterator

import pytest
import torch
from graph_stand_in import recordable, stand_in_for_graphs
from torch import nn

from dovetail import compiler
from dovetail.runtime import program
from dovetail.runtime.stats import stats


@pytest.fixture(autouse=True)
def recorded(monkeypatch: pytest.MonkeyPatch, op_by_op: None) -> None:
    """Programs of the CPU are recorded by a stand-in, regions op by op."""
    stand_in_for_graphs(monkeypatch)
    load, halves = compiler.load_program, program.recorded_halves
    monkeypatch.setattr(
        compiler, "load_program", lambda module, executables, _: load(recordable(module), executables, True)
    )
    monkeypatch.setattr(program, "recorded_halves", lambda found, runs, _: halves(found, runs, found.regions))
    stats(reset=True)


def networks() -> tuple[nn.Module, nn.Module]:
    """A network and its compiled twin."""
    torch.manual_seed(0)
    made = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))
    return made, torch.compile(copy.deepcopy(made), backend="dovetail")


def batches(count: int) -> Iterator[torch.Tensor]:
    return (torch.randn(6, 8, generator=torch.Generator().manual_seed(seed)) for seed in range(count))


def same_gradients(expected: nn.Module, got: nn.Module) -> None:
    for one, other in zip(expected.parameters(), got.parameters(), strict=True):
        torch.testing.assert_close(other.grad, one.grad)


def test_training() -> None:
    """Catches stale weights, inputs or saved values in a replay."""
    eager, compiled = networks()
    steps = [torch.optim.SGD(model.parameters(), 1e-3) for model in (eager, compiled)]
    for x in batches(6):
        for model, step in zip((eager, compiled), steps, strict=True):
            step.zero_grad()
            model(x).square().sum().backward()
        same_gradients(eager, compiled)
        for step in steps:
            step.step()
    assert stats().recordings == 2
    assert not stats().without_effect


def test_gradients_that_accumulate() -> None:
    """Catches a replay of the backward over the gradients that parameters hold."""
    eager, compiled = networks()
    for x in batches(6):
        for model in (eager, compiled):
            model(x).square().sum().backward()
        same_gradients(eager, compiled)


def test_forwards_before_their_backwards() -> None:
    """Catches a forward that is replayed over what an earlier one saved."""
    eager, compiled = networks()
    for _ in range(3):
        for model in (eager, compiled):
            losses = [model(x).square().sum() for x in batches(3)]
            for loss in reversed(losses):
                loss.backward()
        same_gradients(eager, compiled)


def test_a_graph_that_is_kept() -> None:
    """Catches a second backward from values that the first one overwrote."""
    eager, compiled = networks()
    for x in batches(4):
        for model in (eager, compiled):
            loss = model(x).square().sum()
            loss.backward(retain_graph=True)
            loss.backward()
        same_gradients(eager, compiled)


def test_results_are_kept() -> None:
    """Catches results that later calls overwrite."""
    eager, compiled = networks()
    with torch.no_grad():
        held = [compiled(x) for x in batches(9)]
        for got, x in zip(held, batches(9), strict=True):
            torch.testing.assert_close(got, eager(x))


def test_the_gradient_of_an_input_and_double_backward() -> None:
    """Catches a saved input that lies in the recording's copy, whose changes nobody sees."""
    eager, compiled = networks()
    for x in batches(4):
        found = []
        for model in (eager, compiled):
            given = x.clone().requires_grad_()
            [gradient] = torch.autograd.grad(model(given).square().sum(), given, create_graph=True)
            found.append(torch.autograd.grad(gradient.square().sum(), given)[0])
        torch.testing.assert_close(found[1], found[0])


def test_saved_values_that_the_user_changes_are_noticed() -> None:
    """Catches a version check that watches the recording's memory instead of the user's."""
    _, compiled = networks()
    for x in batches(4):
        loss = compiled(x).square().sum()
        x.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


@pytest.mark.parametrize(
    "compute", [lambda x, y: x.mul_(2).add_(y.sin()), lambda x, y: x.t().copy_(y.t()), lambda x, y: x[1:]]
)
def test_what_is_written_and_returned_is_the_users(compute: Callable) -> None:
    """Catches an update of a copy, and a result in memory that is not the argument's."""
    compiled = torch.compile(compute, backend="dovetail")
    for seed in range(5):
        torch.manual_seed(seed)
        y = torch.randn(8, 8)
        expected, got = torch.ones(8, 8), torch.ones(8, 8)
        results = compute(expected, y), compiled(got, y)
        torch.testing.assert_close(got, expected)
        torch.testing.assert_close(results[1], results[0])
        assert results[1].untyped_storage()._cdata == got.untyped_storage()._cdata
        assert got._version == expected._version


def test_threads_do_not_share_a_replay() -> None:
    """Catches two calls at once that copy their inputs to one place."""
    eager, compiled = networks()
    given, wrong = list(batches(4)), []
    with torch.no_grad():
        for x in given:
            compiled(x)

    def work(x: torch.Tensor) -> None:
        with torch.no_grad():
            for _ in range(30):
                if not torch.allclose(compiled(x), eager(x), atol=1e-6):
                    wrong.append(x)

    threads = [threading.Thread(target=work, args=(x,)) for x in given]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
