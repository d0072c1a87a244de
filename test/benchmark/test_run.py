"""The benchmark runs, measures what it says, and names a bad option."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch

FIGURES = {
    "cold_compile": {"inductor", "dovetail"},
    "warm_compile": {"inductor", "dovetail"},
    "step": {"eager", "inductor", "dovetail"},
    "peak": {"eager", "inductor", "dovetail"},
}


def benchmark(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(repository / "benchmark" / "run.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_smoke_run_gives_every_figure(repository: Path, tmp_path: Path) -> None:
    """A compiler or a figure missing from the results, or a time that was never taken."""
    names = ["call-overhead", "layer-norm-training"]
    target = tmp_path / "figures.json"
    result = benchmark(repository, "--smoke", "--only", *names, "--json", str(target))
    assert result.returncode == 0, result.stderr
    results = json.loads(target.read_text())["results"]
    assert [figures["case"] for figures in results] == names
    for figures in results:
        assert {name: set(figures[name]) for name in FIGURES} == FIGURES
        times = [value for name in FIGURES.keys() - {"peak"} for value in figures[name].values()]
        assert min(times) > 0


def test_unknown_case_is_named(mistaken) -> None:
    """A misspelt case that measures nothing, or a traceback."""
    status, messages = mistaken("run.py", "--only", "sofmax")
    assert status == 2
    assert "invalid choice: 'sofmax'" in messages
    assert "softmax-inference" in messages


def test_every_case_does_its_work_in_eager(repository: Path) -> None:
    """A case that is broken by itself, or a training case that leaves a gradient out."""
    for case in runpy.run_path(str(repository / "benchmark" / "cases.py"))["CASES"].values():
        results = case.prepare(None, True)()
        assert results, case.name
        assert all(torch.isfinite(result).all() for result in results), case.name
        if case.name == "mlp-training":
            assert len(results) == 1 + 1 + 4  # the result; gradients of the input, two weights and two biases


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured through /proc, on Linux only")
def test_peak_memory_counts_what_is_alive_at_once(repository: Path) -> None:
    """A peak that adds up all allocations, or that misses blocks which the heap had room for."""
    peak_bytes = runpy.run_path(str(repository / "benchmark" / "memory.py"))["peak_bytes"]

    def three_in_turn() -> torch.Tensor:
        first = torch.ones(1 << 20)  # 4 MiB
        second = first + 1
        del first
        return (second + 1).sum()

    assert peak_bytes(three_in_turn) == pytest.approx(8 << 20, abs=1 << 20)
