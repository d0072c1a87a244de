"""`options={"tune": True}`: what is measured, chosen, written to the IR and remembered."""

from importlib import import_module

import pytest
import torch
from torch_mlir import ir

import dovetail
from dovetail import compiler, tuning
from dovetail.backends.target import VARIANTS

pytestmark = pytest.mark.usefixtures("remembered_runs")

# The package has a function of the module's name.
alternatives = import_module("dovetail.tuning.alternatives")
DRIVERS = ("local-sync", "local-task")
NAMES = [*(f"default on {driver}" for driver in DRIVERS), "split", "library"]


def _function(x):
    return torch.exp(x) * 2 + 1


@pytest.fixture
def measured(monkeypatch, tmp_path):
    """Puts a fake in the stopwatch's place, for which `fastest` takes 1 us and everything else 5; lists what it saw."""
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("DOVETAIL_LAUNCH", "iree.runtime")

    def use(fastest: str, variants=("default",)) -> list[str]:
        monkeypatch.setattr(alternatives, "VARIANTS", {name: VARIANTS[name] for name in variants})
        seen: list[str] = []

        def seconds(alternative):
            seen.append(alternative.name)
            alternative()
            return 1e-6 if alternative.name == fastest else 5e-6

        monkeypatch.setattr(tuning, "seconds_per_call", seconds)
        return seen

    return use


@pytest.fixture
def modules(monkeypatch) -> list[str]:
    """The text of each module that is built, as it runs."""
    texts: list[str] = []
    load = compiler.load_program

    def keep(module: ir.Module, *arguments):
        texts.append(str(module))
        return load(module, *arguments)

    monkeypatch.setattr(compiler, "load_program", keep)
    return texts


def _run(function=_function, *arguments, **options):
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    arguments = arguments or (torch.linspace(-1, 1, 16).reshape(4, 4),)
    with torch.no_grad():
        actual = torch.compile(function, backend="dovetail", options={"tune": True, **options})(*arguments)
    torch.testing.assert_close(actual, function(*arguments))
    return dovetail.stats()


def test_each_alternative_is_measured_once_and_never_again(measured, modules):
    """Would catch an alternative that nobody tries, and seconds of measuring for what was measured before."""
    seen = measured("undistributed on local-task", VARIANTS)
    every = [f"{variant} on {driver}" for variant in VARIANTS for driver in DRIVERS] + ["split", "library"]
    first = _run()
    assert seen == every
    assert first.measurements == len(every)
    second = _run()
    assert seen == every
    assert second.measurements == 0
    assert first.tuned == second.tuned == {"undistributed on local-task": 1}
    assert modules[0] == modules[1]
    assert 'dovetail.driver = "local-task"' in modules[0]
    assert 'dovetail.variant = "undistributed"' in modules[0]
    assert 'dovetail.measured = "undistributed on local-task 1.0 us, default on local-sync 5.0 us' in modules[0]


def test_what_tuning_compiled_does_not_count_as_cached(measured):
    """Would catch "1 distinct, 1 from the cache" on a first run, and hits of tuning's own look-ups on a later one."""
    measured("default on local-task")
    first, second = _run(), _run()
    assert (first.executables, first.cache_hits) == (1, 0)
    assert (second.executables, second.cache_hits) == (1, 1)


def test_only_what_runs_counts_as_cached(measured):
    """Would catch an alternative found on disk counted as a region of the program: tuning looks up several."""
    measured("default on local-task")
    _run(tune=False)
    assert _run().cache_hits == 1


def test_tuning_is_a_stage_of_its_own(measured):
    """Would catch minutes of measuring shown as compiling of regions, or counted twice in the total."""
    measured("split")
    seconds = _run().compile_seconds
    assert seconds["tuning"] > 0
    assert seconds["total"] == pytest.approx(sum(each for stage, each in seconds.items() if stage != "total"))
    assert "tuning" not in _run(tune=False).compile_seconds


def test_library_calls_are_chosen(measured, modules):
    """Would catch a choice that counts as a fallback, to which strict mode objects."""
    measured("library")
    stats = _run(strict=True)
    assert stats.ops["library"] == 3
    assert stats.regions == 0
    assert all(reason.startswith("measured: library 1.0 us, ") for _, reason in stats.library_calls)


def test_a_split_is_chosen(measured, modules):
    """Would catch a choice that is measured but not made, or made without its figures in the IR."""
    measured("split")
    assert _run().regions == 2
    assert modules[0].count('dovetail.measured = "split 1.0 us, ') == 2


def test_equal_figures_change_nothing(measured):
    """Would catch a choice by noise, another one in each process."""
    measured("none of them")
    assert _run().tuned == {"default on local-sync": 1}


def test_another_shape_is_measured_anew(measured):
    """Would catch a key that leaves out what the figures depend on."""
    seen = measured("library")
    _run()
    _run(_function, torch.ones(8, 8))
    assert seen == NAMES * 2


def test_without_the_cache_nothing_is_remembered(measured):
    """Would catch files that a user has forbidden."""
    seen = measured("library")
    _run(cache=False)
    _run(cache=False)
    assert seen == NAMES * 2


def test_a_wrong_alternative_is_left_out(measured, monkeypatch):
    """Would catch a flag that makes a region fast and wrong."""
    seen = measured("split")
    monkeypatch.setattr(tuning, "is_right", lambda actual, expected: False)
    assert _run().tuned == {"library": 1}
    assert seen == ["library"]


def test_updates_in_place_keep_their_region(measured, modules):
    """Would catch a measurement that makes copies of what a region updates in place."""
    seen = measured("default on local-task")

    def step(p, g):
        p.add_(g, alpha=-0.1)
        return p + 0

    parameter, other = torch.ones(8), torch.ones(8)
    gradient = torch.linspace(-1, 1, 8)
    torch._dynamo.reset()
    torch.compile(step, backend="dovetail", options={"tune": True})(parameter, gradient)
    step(other, gradient)
    torch.testing.assert_close(parameter, other)
    assert "dovetail.in_place" in modules[0]
    assert "library" not in seen[:2]


def test_plans_are_measured_instead_of_drivers(measured, modules, monkeypatch):
    """Would catch figures of launches that are not the ones that happen."""
    variants = "default", "undistributed"
    seen = measured("undistributed on plan", variants)
    monkeypatch.setenv("DOVETAIL_LAUNCH", "plans")
    assert _run().tuned == {"undistributed on plan": 1}
    assert seen == [*(f"{variant} on plan" for variant in variants), "split", "library"]
    assert dovetail.stats().launches == {"plan": 1}
    assert "dovetail.plan = @forward_region_0" in modules[0]


def test_off_by_default(measured):
    """Would catch minutes of measuring that nobody asked for."""
    seen = measured("library")
    with torch.no_grad():
        torch.compile(_function, backend="dovetail")(torch.linspace(-1, 1, 16).reshape(4, 4))  # as `_run`'s
    assert seen == []
