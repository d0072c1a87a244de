"""The benchmark runs, measures what it says, names a bad option, and is just to both sides."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from new_process import run_python

from dovetail.tools.bench import __main__ as command
from dovetail.tools.bench import measurement
from dovetail.tools.bench import record as record_module
from dovetail.tools.bench.cases import CASES
from dovetail.tools.bench.figures import DYNAMIC, TRACING, Figures
from dovetail.tools.bench.goals import GOALS, Goal
from dovetail.tools.bench.measurement import SMOKE, measure
from dovetail.tools.bench.memory import peak_bytes
from dovetail.tools.bench.record import Machine, record, recorded
from dovetail.tools.bench.report import figures, goals

MACHINE = Machine("a processor", 2, 1, {"torch": "2"})


def speeds(case: str, inductor: float, dovetail: float) -> Figures:
    return Figures(case, "kernel", step={"eager": [1.0], "inductor": [inductor], "dovetail": [dovetail]})


@pytest.mark.slow
def test_smoke_run_gives_every_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """A compiler or a figure missing from the record, or a time that was never taken.

    Under inductor's name runs what compiles nothing: the C++ compiler alone would take ten seconds.
    """
    path, compile_ = tmp_path / "figures.json", torch.compile
    stand_ins = {"inductor": "aot_eager"}
    monkeypatch.setattr(torch, "compile", lambda work, backend: compile_(work, backend=stand_ins.get(backend, backend)))
    assert command.main(["--smoke", "--only", "call-that-writes", "--record", str(path)]) == 0
    assert "| call-that-writes |" in capsys.readouterr().out
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_module, "MEASURED", tmp_path)
        ((machine, [found]),) = recorded()
    assert machine.threads == torch.get_num_threads()
    assert found.case == "call-that-writes"
    assert set(found.step) == set(found.peak) == {"eager", "inductor", "dovetail", DYNAMIC, TRACING}
    assert all(len(samples) == SMOKE.rounds and min(samples) > 0 for samples in found.step.values())


def test_memory_is_measured_after_an_allocation_failed():
    """Filled the heap's holes until the memory was gone: a thread whose allocation failed no longer moves its end."""
    program = """
import resource, torch
from dovetail.tools.bench.memory import peak_bytes
resource.setrlimit(resource.RLIMIT_AS, (24 << 30, 24 << 30))
try:
    torch.empty(1 << 40, dtype=torch.int8)
except RuntimeError:
    print(peak_bytes(lambda: torch.ones(1 << 22)) >> 20)
"""
    finished = run_python(program)
    assert finished.stdout in ("15\n", "16\n"), finished.stderr


@pytest.mark.slow
def test_models_are_compiled_in_new_processes(monkeypatch: pytest.MonkeyPatch):
    """A figure that is this process's own first call, or a new process that never ends."""
    asked = {"dovetail": iter((3.0, 2.0)), "aot_eager": iter((1.5,)), "eager": iter((1.0,))}
    monkeypatch.setattr(measurement, "_first_call", lambda case, compiler, effort: next(asked[compiler]))
    monkeypatch.setitem(CASES, "call", type(CASES["call"])("call", "model", CASES["call"].prepare))
    found = measure(CASES["call"], ("dovetail",), SMOKE)
    assert found.cold_compile == {"dovetail": [3.0], TRACING: [1.5]}
    assert found.warm_compile == {"dovetail": [2.0], TRACING: [1.0]}
    monkeypatch.undo()
    assert measurement._first_call(CASES["call"], "eager", SMOKE) > 0


def test_unknown_case_is_named(capsys: pytest.CaptureFixture[str]):
    """A misspelt case that measures nothing, or a traceback."""
    with pytest.raises(SystemExit) as ended:
        command.main(["--only", "sofmax"])
    assert ended.value.code == 2
    messages = capsys.readouterr().err
    assert "invalid choice: 'sofmax'" in messages
    assert "softmax-training" in messages


@pytest.mark.slow
def test_every_case_does_its_work_in_eager():
    """A case that is broken by itself, or a training case that leaves a gradient out."""
    for case in CASES.values():
        results = case.prepare(None, True)()
        assert results, case.name
        assert all(torch.isfinite(result).all() for result in results), case.name
        if case.name == "mlp-training":
            assert len(results) == 1 + 1 + 4  # the result; gradients of the input, two weights and two biases


@pytest.mark.parametrize("name", ["softmax", "cross-entropy-training", "mlp-inference"])
def test_open_sizes_are_measured_apart(name: str, monkeypatch: pytest.MonkeyPatch):
    """Figures of the program of open sizes under the name of the one of known sizes: it takes the same arguments."""
    ran: list[str] = []

    def recorded(graph: torch.fx.GraphModule, example_inputs: Sequence[object]) -> Callable:
        is_open = any(isinstance(each, torch.SymInt) for each in example_inputs)
        return lambda *given: ran.append("open" if is_open else "known") or graph(*given)

    compile_ = torch.compile
    monkeypatch.setattr(torch, "compile", lambda function, backend: compile_(function, backend=recorded))
    steps = [CASES[name].prepare(kind, True) for kind in ("dovetail", DYNAMIC)]
    for step in [*steps, *steps]:
        step()
    assert ran == ["known", "open"] * 2


def test_goal_says_what_missed_it():
    """A mean that hides one slow case, or a share of time read as a speed."""
    results = [speeds("fast", inductor=4.0, dovetail=1.0), speeds("slow", inductor=1.0, dovetail=2.0)]
    assert Goal("", "kernel", ("inductor",), 1.4).found(results) == "1.41 (slow 0.50)"
    assert Goal("", "kernel", ("inductor",), 1.4, 0.9).found(results) == "**1.41 (slow 0.50)**"
    assert Goal("", "kernel", ("eager", "inductor"), 0.7).found(results) == "0.71 (slow 0.50)"
    assert Goal("", "kernel", ("inductor",), 0.8, is_share=True).found(results) == "0.71 (slow 2.00)"
    assert Goal("", "network", ("inductor",), 1.0).found(results) == "–"


def test_what_no_backend_has_a_part_in_is_told_beside_the_goal():
    """A share of time that is asked of a backend though PyTorch alone takes more, and a page that does not say so."""
    call = Figures("call", "call", step={"inductor": [4.0], "dovetail": [3.0], TRACING: [2.5]})
    (row,) = (goal for goal in GOALS if goal.group == "call" and goal.ours == TRACING)
    assert (row.asked, row.found([call])) == ("–", "0.62")


def test_page_of_a_recorded_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Figures that lose a compiler, a machine or their unit between the run and the page."""
    monkeypatch.setattr(record_module, "this_machine", lambda: MACHINE)
    monkeypatch.setattr(record_module, "MEASURED", tmp_path)
    record(tmp_path / "host.json", [speeds("softmax", inductor=2e-3, dovetail=1e-3)])
    found = recorded()
    assert found == [(MACHINE, [speeds("softmax", inductor=2e-3, dovetail=1e-3)])]
    assert "| softmax | 1000 | 2 | 1 | 0.00 | 0.50 |" in figures(*found[0])
    assert "| kernels, speed of inductor's | ≥ 1.40, none under 0.90 | 2.00 |" in goals(found)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured through /proc, on Linux only")
def test_peak_memory_counts_what_is_alive_at_once():
    """A peak that adds up all allocations, or that misses blocks which the heap had room for."""

    def three_in_turn() -> torch.Tensor:
        first = torch.ones(1 << 20)  # 4 MiB
        second = first + 1
        del first
        return (second + 1).sum()

    assert peak_bytes(three_in_turn) == pytest.approx(8 << 20, abs=1 << 20)
