"""A system that gives no further process, and processes that are killed."""

import errno
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from compiled_regions import compile_regions
from failing import call, fork, has_ended, wait

from dovetail.backends.compiling import compiler_runs, iree_worker, source
from dovetail.backends.compiling.outcomes import CompiledRegion
from dovetail.backends.target import CpuTarget
from dovetail.backends.worker import main
from dovetail.errors import EagerWarning


@pytest.mark.parametrize("number", [errno.ENOMEM, errno.EMFILE, errno.EAGAIN], ids=lambda each: errno.errorcode[each])
def test_no_process_can_be_started(number: int, monkeypatch: pytest.MonkeyPatch):
    """Would catch an OSError that ends the program where eager needs no process."""

    def start(*_, **__):
        raise OSError(number, os.strerror(number))

    iree_worker.worker.end()
    monkeypatch.setattr(source.subprocess, "Popen", start)
    with pytest.warns(EagerWarning, match=f"the compiler can't be started: {os.strerror(number)}"):
        assert call().eager.total() == 1


def test_some_processes_can_be_started(use_compiler: Callable, monkeypatch: pytest.MonkeyPatch):
    """Would catch a compiler that goes on although nobody takes its output, and a call that waits for it."""
    use_compiler("exec sleep 30")
    started: list[int] = []
    start = source.Source.fork

    def second_fails(*arguments):
        if started:
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        started.append(start(*arguments))
        return started[0]

    monkeypatch.setattr(source.Source, "fork", second_fails)
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


def test_a_fork_without_its_source_does_not_begin():
    """Would catch a compiler whose source was killed before it could ask to be told: nothing would end it."""

    def orphaned():
        with pytest.raises(SystemExit):
            main._end_with(1)

    assert wait(fork(orphaned)) == 0


def test_a_killed_source_takes_compilers_along(use_compiler: Callable, tmp_path: Path):
    """Would catch a program that waits for a compiler, or fails, since the system killed what that was forked from."""
    use_compiler(f"echo $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; exec sleep 60")
    with ThreadPoolExecutor(1) as pool:
        compiling = pool.submit(compile_regions, {"a": "text"}, CpuTarget(), timeout=60)
        while not (tmp_path / "pid").exists():
            time.sleep(0.02)
        killed = iree_worker.worker._source
        assert killed is not None
        killed._process.kill()
        outcome = compiling.result()["a"]
    assert not isinstance(outcome, CompiledRegion)
    assert outcome.reason == "crash: exit status -9, no message"
    assert has_ended(int((tmp_path / "pid").read_text()))


def test_a_compiler_has_the_environment_of_its_time(use_compiler: Callable, monkeypatch: pytest.MonkeyPatch):
    """Would catch a variable that the user sets between two compilations and that the second does not see."""
    use_compiler("cat > /dev/null; echo $MEANWHILE >&2; exit 1")
    for value in ("first", "second"):
        monkeypatch.setenv("MEANWHILE", value)
        outcome = compile_regions({value: value}, CpuTarget(), timeout=60)[value]
        assert not isinstance(outcome, CompiledRegion)
        assert outcome.diagnostics == f"{value}\n"


@pytest.mark.parametrize("closed", [(1,), (0, 1, 2)], ids=str)
def test_a_program_without_streams_waits_no_longer(closed: tuple[int, ...], use_compiler: Callable):
    """Would catch a file with the number, 0 to 2, of what tells whether a compiler runs, or of the source's socket."""
    use_compiler("exec sleep 20")

    def daemon():
        for each in closed:
            os.close(each)
        outcome = compile_regions({"a": "text"}, CpuTarget(), timeout=0.3)["a"]
        assert not isinstance(outcome, CompiledRegion)
        assert outcome.reason == "time-out after 0.3 s"

    assert wait(fork(daemon)) == 0


def test_a_program_may_ignore_its_children(use_compiler: Callable):
    """Would catch a source that is told of no fork's end, since the program ignores SIGCHLD, and ends itself."""
    use_compiler("cat > /dev/null; echo told >&2; exit 1")

    def ignoring():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        outcome = compile_regions({"a": "text"}, CpuTarget(), timeout=60)["a"]
        assert not isinstance(outcome, CompiledRegion)
        assert outcome.diagnostics == "told\n"

    assert wait(fork(ignoring)) == 0


def test_forks_of_a_program_hold_no_compiler(use_compiler: Callable, tmp_path: Path):
    """Would catch a data loader's process that keeps a killed program's compiler running, since it has its socket."""
    use_compiler(f"echo $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; exec sleep 60")

    def program():
        with ThreadPoolExecutor(1) as pool:
            compiling = pool.submit(compile_regions, {"a": "text"}, CpuTarget(), timeout=60)
            while not (tmp_path / "pid").exists():
                time.sleep(0.02)
            (tmp_path / "loader").write_text(str(fork(lambda: time.sleep(60))))
            os.kill(os.getpid(), signal.SIGKILL)
            compiling.result()

    assert wait(fork(program)) == -signal.SIGKILL
    loader = int((tmp_path / "loader").read_text())
    assert has_ended(int((tmp_path / "pid").read_text()))
    os.kill(loader, signal.SIGKILL)


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
