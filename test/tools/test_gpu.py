"""The report of a GPU, on a machine without one: its cases compute, and its tables say what was measured."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from time import monotonic, sleep

import pytest
import torch

from dovetail.tools.demo.timing import said_by_process
from dovetail.tools.gpu import __main__ as command
from dovetail.tools.gpu import measure as measured
from dovetail.tools.gpu.cases import CASES, Case, Make
from dovetail.tools.gpu.checks import CHECKS, CORES, Check, run_checks
from dovetail.tools.gpu.measure import COPY, EAGER, OURS, THEIRS, Measured, prepare
from dovetail.tools.gpu.report import TestRun, figures, outcome, speed


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cases_compute_what_they_say(case: Case) -> None:
    """Catches a case that fails on the GPU, where time is dear, and one whose results are not those in float64."""
    make = Make("cpu", case.dtype, shrink=64)
    results, exact = prepare(case, make, None)(), prepare(case, make, None, is_wide=True)()
    assert len(results) == len(exact)
    for got, true in zip(results, exact, strict=True):
        assert got.dtype is case.dtype
        assert true.dtype is torch.float64
        torch.testing.assert_close(got.double(), true, rtol=0.1, atol=0.1)


def test_cases_know_their_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a case compiled for open sizes since one before it computed the same of others."""
    seen: list[object] = []

    def compiler(graph: torch.fx.GraphModule, inputs: list) -> Callable:
        seen.extend(size for each in inputs for size in (each.shape if isinstance(each, torch.Tensor) else [each]))
        return graph.forward

    monkeypatch.setattr(measured, "OURS", compiler)
    monkeypatch.setattr(measured, "THEIRS", "eager")
    monkeypatch.setattr(measured, "device_microseconds", lambda steps: {})
    monkeypatch.setattr(measured, "gpu_microseconds", lambda step: 1.0)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    for name in ("softmax", "softmax-of-3001"):
        assert not measured.measure(next(each for each in CASES if each.name == name), "cpu", shrink=64).problem
    assert seen == [128, 64, 128, 46]


def test_figures() -> None:
    """Catches a ratio upside down, a mean that hides a slow case, and a failure that looks like a dash."""
    fast = Measured("fast", "memory", {EAGER: 40.0, THEIRS: 20.0, OURS: 10.0}, error=1.0, bytes_moved=10_000_000)
    slow = Measured("slow", "memory", {EAGER: 40.0, THEIRS: 20.0, OURS: 40.0}, bytes_moved=10_000_000)
    failed = Measured("failed", "call", {EAGER: 1.0, THEIRS: 2.0}, problem="dovetail: LaunchError: why ")
    fast.on_gpu = {EAGER: 39.0, THEIRS: 19.0, OURS: 8.0, COPY: 7.2}
    fast.compile_seconds = {THEIRS: 3.0, OURS: 1.5}
    assert speed(fast) == 2.0
    said = figures([fast, slow, failed], 2e12)
    assert "| fast | 40.0 | 20.0 | 10.0 | 2.00 | 19.0 | 8.0 | 0.62 | 0.90 | 1.00 | 3.00 | 1.50 |  |" in said
    assert "| failed | 1.0 | 2.0 | – | – | – | – | – | – | – | – | – | dovetail: LaunchError: why |" in said
    assert "Of group memory, 2 cases: 1.00 × inductor by the geometric mean, 0.50 at least." in said
    assert "First calls, with empty caches, take 0.50 of inductor's time" in said


def test_first_calls_are_of_new_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Catches a figure of a process that has compiled before, of shared caches, and a failure without a word."""
    asked: list[tuple[str, ...]] = []

    def said(module: str, case: str, compiler: str, *options: str) -> float:
        asked.append((module, case, compiler, os.environ["DOVETAIL_CACHE_DIR"], os.environ["TORCHINDUCTOR_CACHE_DIR"]))
        if (case, compiler) == ("bert", THEIRS):
            raise subprocess.CalledProcessError(1, [module])
        return {THEIRS: 4.0, OURS: 1.0}[compiler]

    monkeypatch.setattr(measured, "said_by_process", said)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(command.report, "machine", lambda _: "")
    monkeypatch.setattr(command, "on_each_gpu", lambda work, names, *_: [(name, work(name)) for name in names])
    out = tmp_path / "report.md"
    assert command.main(["--only", "first-calls", "--cases", "gpt2", "gpt2-graphs", "bert", "--out", str(out)]) == 1
    assert [each[1:3] for each in asked] == [(name, who) for name in ("gpt2", "bert") for who in (THEIRS, OURS)]
    assert {each[0] for each in asked} == {"dovetail.tools.gpu.first_call"}
    assert len({each[3] for each in asked}) == len({each[4] for each in asked}) == len(asked)
    said_lines = out.read_text(encoding="utf-8").splitlines()
    assert "| gpt2 | 4.00 | 1.00 | 0.25 |" in said_lines
    assert "| bert | – | 1.00 | – |" in said_lines
    assert said_lines[-1] == "Of inductor's time 0.25, by the geometric mean."


@pytest.mark.slow
def test_a_first_call_in_a_new_process() -> None:
    """Catches a program that fails where device time is dear, or prints something else than seconds last."""
    seconds = said_by_process("dovetail.tools.gpu.first_call", "call", "eager", "--device", "cpu", "--shrink", "64")
    assert 0 < seconds < 60


class _Gpu:
    """Stands for a GPU whose host takes a millisecond for a call, and its own kernel a hundredth of that."""

    def __init__(self) -> None:
        self.host = self.free = 0.0

    def sleep(self, cycles: int) -> None:
        self.free = max(self.host, self.free) + cycles / 2e6

    def step(self) -> list[torch.Tensor]:
        self.host += 1.0
        self.free = max(self.host, self.free) + 0.01
        return []

    def event(self, enable_timing: bool) -> "_Event":
        assert enable_timing
        return _Event(self)


class _Event:
    def __init__(self, gpu: _Gpu) -> None:
        self.gpu, self.at = gpu, 0.0

    def record(self) -> None:
        self.at = max(self.gpu.host, self.gpu.free)

    def query(self) -> bool:
        return self.at <= self.gpu.host

    def synchronize(self) -> None:
        self.gpu.host = max(self.gpu.host, self.at)

    def elapsed_time(self, end: "_Event") -> float:
        return end.at - self.at


def test_a_kernels_time_is_not_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a share of the bandwidth that says how fast the host issues calls: of short kernels, half of theirs."""
    gpu = _Gpu()
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "_sleep", gpu.sleep)
    monkeypatch.setattr(torch.cuda, "Event", gpu.event)
    assert measured.device_microseconds({"one": gpu.step})["one"] > 900
    assert measured.gpu_microseconds(gpu.step) == pytest.approx(10)


def test_failed_tests_are_named() -> None:
    """Catches a report that says how many failed, and not which."""
    said = outcome(TestRun("some tests", "1 failed, 2 passed", ("test.runtime::test_x",), 3.0))
    assert said == "Some tests: 1 failed, 2 passed; 3 s with their processes.\n\n- failed: `test.runtime::test_x`"


def test_a_check_says_what_it_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Catches a tool whose failures pass for none, one that can't be started, and tests lost with their time."""
    monkeypatch.setattr(Check, "command", lambda check, *_: [sys.executable, "-c", *check.words])
    monkeypatch.setattr("dovetail.tools.gpu.checks.GRACE", 1.0)  # where an interrupt is ignored, it is waited for
    says = "print('| programs | 3 |'); print('op f32: differs'); raise SystemExit(1)"
    found, broken, late = run_checks(
        tmp_path,
        [
            Check("found", (says,), 1, shows=r"\| programs", fails="op "),
            Check("broken", ("import nowhere.at.all",), 1, shows="x"),
            Check("late", ("import time; print('begun', flush=True); time.sleep(60)",), 1, shows="begun"),
        ],
        seconds=3,
    )
    assert (found.summary, found.failures) == ("| programs | 3 |", ("op f32: differs",))
    assert (broken.summary, broken.failures) == (
        "ModuleNotFoundError: No module named 'nowhere'",
        ("status 1: ModuleNotFoundError: No module named 'nowhere'",),
    )
    assert (late.summary, late.failures) == ("begun, stopped after 3 s", ())


def test_a_check_leaves_no_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Catches workers of a check that has ended, which slowed the benchmark after it: a call took 28 us, not 17."""
    monkeypatch.setattr(Check, "command", lambda check, *_: [sys.executable, "-c", *check.words])
    apart = "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL"
    says = f"import subprocess; print(subprocess.Popen(['sleep', '60'], {apart}).pid)"
    (found,) = run_checks(tmp_path, [Check("leaves one", (says,), 1, shows=r"\d+")], seconds=30)
    end = monotonic() + 10
    while runs(found.summary) and monotonic() < end:
        sleep(0.01)
    assert not runs(found.summary)


def runs(process: str) -> bool:
    try:
        return Path("/proc", process, "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_failed_test_says_why(tmp_path: Path) -> None:
    """Catches a report that names what failed and not how, most of all of a file that can't be imported."""
    (tmp_path / "test_one.py").write_text("def test_one():\n    assert 1 == 2, 'of numbers'\n", encoding="utf-8")
    (tmp_path / "test_two.py").write_text("raise ValueError('of two')\n", encoding="utf-8")
    (found,) = run_checks(tmp_path, [Check("tests", ("pytest", "--rootdir", str(tmp_path), str(tmp_path)), 1)], 60)
    assert found.failures[0].endswith("::test_two: E   ValueError: of two")
    assert "test_one::test_one: AssertionError: of numbers" in found.failures[1]


def test_each_check_is_a_command_that_is_there(capsys: pytest.CaptureFixture, repository: Path) -> None:
    """Catches a renamed option or file, found where device time is dear."""
    for check in CHECKS:
        assert all((repository / word).exists() for word in check.words if word.startswith("test"))
        if check.shows:
            with pytest.raises(SystemExit):
                import_module(f"{check.words[0]}.__main__").main(["--help"])
            helped = capsys.readouterr().out
            options = {word for word in check.command(60, Path("junit.xml")) if word.startswith("--")}
            assert all(option in helped for option in options)


@pytest.mark.skipif(torch.cuda.is_available(), reason="says what happens without a GPU")
def test_checks_share_time_and_cores() -> None:
    """Catches kinds of random programs in one check: of the second, none ran in time. And more processes than cores."""
    assert [check.words[-1] for check in CHECKS if "--kinds" in check.words] == ["alias", "compute"]
    assert sum(check.processes for check in CHECKS) <= CORES


@pytest.mark.parametrize(("cores", "processes"), [(2, "2"), (16, "2"), (32, "4")])
def test_checks_use_the_cores_of_a_larger_host(monkeypatch: pytest.MonkeyPatch, cores: int, processes: str) -> None:
    """Catches a host of two GPUs, half of whose cores wait while the programs' time runs out."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    command = Check("programs", ("dovetail.tools.fuzz",), 2, shows="x").command(60, Path("junit.xml"))
    assert command[command.index("--jobs") + 1] == processes


@pytest.mark.parametrize(("only", "seconds"), [(["tests"], 80.0), (["tests", "bench"], 30.0)])
def test_tests_have_the_time_that_nobody_else_needs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, only: list[str], seconds: float
) -> None:
    """Catches tests that stop at half of the time, which nothing else uses: the table of wrongs did not end."""
    given = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(command, "copy_bandwidth", lambda: 1e12)
    monkeypatch.setattr(command, "run_checks", lambda _, __, seconds: given.append(seconds) or [])
    monkeypatch.setattr(command.report, "machine", lambda _: "")
    monkeypatch.setattr(command, "on_each_gpu", lambda *_: ())
    assert command.main(["--seconds", "100", "--out", str(tmp_path / "report.md"), "--only", *only]) == 0
    assert given == [seconds]


def test_without_a_gpu_it_says_so(capsys: pytest.CaptureFixture) -> None:
    """Catches a report of nothing, with the status of one that went well."""
    assert command.main([]) == 2
    assert "no NVIDIA GPU" in capsys.readouterr().err


def test_chosen_cases_are_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Catches a minute on a GPU that goes to all cases, and a report without the chosen ones."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(command, "copy_bandwidth", lambda: 1e12)
    monkeypatch.setattr(
        command, "on_each_gpu", lambda _, names, *__: ((name, Measured(name, "memory")) for name in names[::-1])
    )
    monkeypatch.setattr(command.report, "machine", lambda _: "")
    out = tmp_path / "report.md"
    assert command.main(["--only", "bench", "--cases", "cat", "llama", "--out", str(out)]) == 0
    said = out.read_text(encoding="utf-8")
    assert [line.split()[1] for line in said.splitlines() if line.startswith("| ")][1:] == ["cat", "llama"]
