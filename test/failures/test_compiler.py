"""A compiler that is missing, dies, lies or takes too long: the program goes on, and is told."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from compiled_regions import compile_regions
from failing import X, call, program

from dovetail.backends.compiling import compiler_runs
from dovetail.backends.compiling.outcomes import CompiledRegion
from dovetail.backends.target import CpuTarget
from dovetail.errors import EagerWarning, StartError
from dovetail.torch_backend import dovetail as backend

OTHER = """
func.func @main(%x: !torch.vtensor<[3,4],f32>, %out: !torch.tensor<[3,4],f32>) {
  %0 = torch.aten.neg %x : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  torch.overwrite.tensor.contents %0 overwrites %out : !torch.vtensor<[3,4],f32>, !torch.tensor<[3,4],f32>
  return
}
"""


@pytest.mark.parametrize("kind", ["missing", "not executable", "no program"])
def test_it_cannot_be_started(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch a FileNotFoundError that ends the program, and regions that are blamed and split for it."""
    path = tmp_path / "iree-compile"
    if kind != "missing":
        path.write_text("neither a script nor a binary")
    if kind == "no program":
        path.chmod(0o755)
    monkeypatch.setattr(compiler_runs, "compiler_executable", lambda: path)
    with pytest.warns(EagerWarning, match=f"the compiler can't be started: {path}: "):
        work = call()
    assert work.eager.total() == 1
    assert not work.failures


def test_it_is_not_installed(monkeypatch: pytest.MonkeyPatch):
    """Would catch a ModuleNotFoundError in place of the package's name."""
    monkeypatch.setattr(compiler_runs.importlib.util, "find_spec", lambda name: None)
    with pytest.warns(EagerWarning, match="expected the package iree-base-compiler"):
        assert call().eager.total() == 1


def test_strict_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch a program that runs eagerly although the user said that it must not."""
    monkeypatch.setattr(compiler_runs, "compiler_executable", lambda: tmp_path / "missing")
    graph = torch.fx.symbolic_trace(program)
    with pytest.raises(StartError, match="the compiler can't be started"):
        backend(graph, [X], options={"strict": True})


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("cat > /dev/null; kill -SEGV $$", "crash: SIGSEGV"),
        ("kill -KILL $$", "crash: SIGKILL"),
        ("cat > /dev/null; echo 'x.mlir:1:1: error: out of registers' >&2; exit 3", "error: out of registers"),
        ("cat > /dev/null; exit 3", "error: the compiler exited with 3: no message"),
        ("cat > /dev/null", "error: the compiler's output is no module: "),
        ("cat > /dev/null; head -c 9000 /dev/zero", "error: the compiler's output is no module: "),
        ('"$REAL" "$@" | head -c 1500', "error: "),  # what is cut, text or module, is read again
    ],
    ids=["SIGSEGV", "SIGKILL", "error", "exit code", "no output", "zeros", "half of the output"],
)
def test_it_fails(script: str, reason: str, use_compiler: Callable, cache: Path):
    """Would catch a failure that ends the program, is not counted, or is kept on disk."""
    use_compiler(script)
    work = call()
    assert (work.regions, work.eager.total()) == (0, 0)
    assert [failure for failure in work.failures if not failure.startswith(reason)] == []
    assert work.failures
    assert not (cache / "regions").exists()


def test_it_returns_another_region(
    use_compiler: Callable, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    """Would catch the numbers of another region: this one has the right types and compiles."""
    other = compile_regions({"other": OTHER}, CpuTarget(), timeout=60)["other"]
    assert isinstance(other, CompiledRegion)
    (tmp_path / "other").write_bytes(other.module)
    monkeypatch.setenv("DOVETAIL_LAUNCH", "iree.runtime")
    makes_modules = 'case $* in *--compile-from=stream*) ;; *) exec "$REAL" "$@";; esac'
    use_compiler(f"{makes_modules}; cat > /dev/null; cat {tmp_path / 'other'}")
    work = call()
    assert work.regions == 0
    assert all("the compiler's output is another module" in failure for failure in work.failures)
    assert not (cache / "regions").exists()


@pytest.mark.parametrize(
    "script",
    ["exec sleep 30", "exec sleep 30 >&- 2>&-", "trap '' TERM; sleep 30 & sleep 30", "setsid sleep 3 & exit 0"],
    ids=["sleeping", "without pipes", "with a child", "with a child of another session"],
)
def test_it_takes_too_long(script: str, use_compiler: Callable):
    """Would catch a call that waits for the compiler, or for what holds its pipes open, past the time limit."""
    use_compiler(script)
    started = time.monotonic()
    outcome = compile_regions({"region": OTHER}, CpuTarget(), timeout=0.3)["region"]
    assert not isinstance(outcome, CompiledRegion)
    assert outcome.reason == "time-out after 0.3 s"
    assert time.monotonic() - started < 10


@pytest.fixture
def interruptible() -> Iterator[None]:
    """As in a terminal: a shell has what it starts in the background ignore the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_it(use_compiler: Callable):
    """Would catch a program that can't be interrupted while it compiles, or that leaves its compilers running."""
    use_compiler("exec sleep 30")
    interrupt = threading.Timer(0.5, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT])
    interrupt.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        compile_regions({"a": "1", "b": "2"}, CpuTarget(), timeout=60, jobs=2)
    interrupt.join()
    assert time.monotonic() - started < 10
