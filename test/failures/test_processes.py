"""A system that gives no further process, and processes that are killed."""

import errno
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from failing import call, fork, has_ended, wait

from dovetail.backends.compiling import compiler_runs
from dovetail.backends.compiling.iree import compile_regions
from dovetail.backends.compiling.outcomes import CompiledRegion
from dovetail.backends.target import CpuTarget
from dovetail.errors import EagerWarning


@pytest.mark.parametrize("number", [errno.ENOMEM, errno.EMFILE, errno.EAGAIN], ids=lambda each: errno.errorcode[each])
def test_no_process_can_be_started(number: int, monkeypatch: pytest.MonkeyPatch):
    """Would catch an OSError that ends the program where eager needs no process."""

    def start(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(compiler_runs.subprocess, "Popen", start)
    with pytest.warns(EagerWarning, match=f"the compiler can't be started: {os.strerror(number)}"):
        assert call().eager.total() == 1


def test_some_processes_can_be_started(use_compiler: Callable, monkeypatch: pytest.MonkeyPatch):
    """Would catch a compiler that goes on although nobody takes its output, and a call that waits for it."""
    use_compiler("exec sleep 30")
    started: list[object] = []
    start = subprocess.Popen

    def second_fails(*arguments, **keywords):
        if started:
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        started.append(start(*arguments, **keywords))
        return started[0]

    monkeypatch.setattr(compiler_runs.subprocess, "Popen", second_fails)
    before = time.monotonic()
    with pytest.raises(compiler_runs.StartError):
        compile_regions({"a": "1", "b": "2"}, CpuTarget(), timeout=60, jobs=2)
    assert time.monotonic() - before < 10


def test_a_killed_process_takes_its_compiler_along(use_compiler: Callable, tmp_path: Path):
    """Would catch compilers that fill the machine after a job was killed; then the cache must serve the next one."""
    use_compiler(f"echo $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; exec sleep 60")
    pid = fork(lambda: compile_regions({"a": "text"}, CpuTarget(), timeout=60) and None)
    while not (tmp_path / "pid").exists():
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    assert wait(pid) == -signal.SIGKILL
    assert has_ended(int((tmp_path / "pid").read_text()))


def test_a_process_killed_while_it_writes(cache: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch half of an entry that the next process loads, or that blocks the place of a whole one."""

    def killed():
        monkeypatch.setattr(os, "replace", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        call()

    assert wait(fork(killed)) == -signal.SIGKILL
    assert list((cache / "regions").glob("*/.writing-*"))
    assert (call().cache_hits, call().cache_hits) == (0, 1)


def test_a_compiler_without_its_parent_does_not_begin(monkeypatch: pytest.MonkeyPatch):
    """Would catch a compiler whose parent was killed before it could ask to be told: nothing would end it."""
    with monkeypatch.context() as patched:
        patched.setattr(os, "getpid", lambda: 1)
        with pytest.raises(compiler_runs.StartError):
            compiler_runs.CompilerRuns().run([], "", 60)


def test_limits_of_the_user_stay(use_compiler: Callable):
    """Would catch a compiler that can't be started under a limit of CPU time below its own."""
    import resource

    use_compiler("cat > /dev/null; ulimit -t >&2; exit 1")

    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (500, 500))
        outcome = compile_regions({"a": "text"}, CpuTarget(), timeout=10_000)["a"]
        assert not isinstance(outcome, CompiledRegion)
        assert outcome.diagnostics == "500\n"

    assert wait(fork(limited)) == 0
