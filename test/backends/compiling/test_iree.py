"""Compiling regions in worker processes: results by name, and failures that stay failures."""

import os
import shlex
import subprocess
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from compiled_regions import compile_regions

from dovetail.backends.compiling import batches, compiler_runs, iree, iree_worker
from dovetail.backends.compiling.cache import RegionCache
from dovetail.backends.compiling.compiler_runs import CompilerRuns
from dovetail.backends.compiling.iree import Compilation
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import CompiledRegion, CompileFailure
from dovetail.backends.target import CpuTarget


def region(op: str) -> str:
    return f"""
module @region {{
  func.func @main(%arg0: !torch.vtensor<[4],f32>, %out0: !torch.tensor<[4],f32>) {{
    %0 = torch.aten.{op} %arg0 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    torch.overwrite.tensor.contents %0 overwrites %out0 : !torch.vtensor<[4],f32>, !torch.tensor<[4],f32>
    return
  }}
}}
"""


@pytest.fixture(autouse=True)
def fresh_state(tmp_path, monkeypatch):
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(iree, "_failures", {})


def use_compiler(monkeypatch, tmp_path, script: str):
    """Puts a shell script in the place of the compiler's first run for a region, of which no module is expected.

    It appends a line to `calls` each time it runs. The runs that follow hand on what they are given.
    """
    path = tmp_path / "compiler"
    first = f"case $* in *--compile-to=flow*) ;; *) exec cat;; esac\necho >> {tmp_path / 'calls'}"
    path.write_text(f"#!/bin/sh\n{first}\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setattr(compiler_runs, "_executable", lambda name: path)
    monkeypatch.setattr(batches, "wrong_output", lambda module, entries: None)
    return lambda: len((tmp_path / "calls").read_text().splitlines())


def test_good_and_bad_regions_in_one_call():
    """One region that does not compile would take the others with it."""
    sources = {"good": region("relu"), "bad": region("no_such_op")}
    outcomes = compile_regions(sources, CpuTarget(), timeout=60, jobs=2)
    assert isinstance(outcomes["good"], CompiledRegion)
    failure = outcomes["bad"]
    assert isinstance(failure, CompileFailure)
    assert failure.reason.startswith("error: ")
    assert "torch.aten.no_such_op" in failure.reason
    assert failure.reason.removeprefix("error: ") in failure.diagnostics


def test_the_reproducer_reproduces():
    """A printed command with a file that is gone, or without the flags, is no help."""
    failure = compile_regions({"bad": region("no_such_op")}, CpuTarget(), timeout=60)["bad"]
    assert isinstance(failure, CompileFailure)
    command = [str(compiler_runs.compiler_executable()), *shlex.split(failure.reproducer)[1:]]
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode != 0
    assert failure.reason in again.stderr


def test_equal_texts_are_compiled_once(monkeypatch, tmp_path):
    """Twelve equal layers would cost twelve compilations."""
    calls = use_compiler(monkeypatch, tmp_path, "cat > /dev/null; printf compiled")
    outcomes = compile_regions({"a": "same", "b": "same", "c": "other"}, CpuTarget(), timeout=60, jobs=2)
    assert {outcome.module for outcome in outcomes.values()} == {b"compiled"}
    assert outcomes["a"] == outcomes["b"] != outcomes["c"]
    assert calls() == 2


def test_regions_share_a_compiler_run(monkeypatch, tmp_path):
    """A process for each region would cost several times as much; an entry mixed up would run another region."""
    calls = use_compiler(monkeypatch, tmp_path, "cat")
    sources = {op: region(op) for op in ("relu", "abs", "neg")}
    outcomes = compile_regions(sources, CpuTarget(), timeout=60, jobs=1)
    assert calls() == 1
    for op, outcome in outcomes.items():
        assert isinstance(outcome, CompiledRegion)
        function = outcome.module.decode().split(f"@{outcome.entry}(")[1].split("func.func")[0]
        assert f"torch.aten.{op} " in function


def test_one_bad_region_does_not_fail_its_batch(monkeypatch, tmp_path):
    """A region that crashes the compiler would make library calls of all that were compiled with it."""
    use_compiler(monkeypatch, tmp_path, "text=$(cat); case $text in *aten.ceil*) kill -SEGV $$;; esac; printf compiled")
    sources = {op: region(op) for op in ("relu", "ceil", "neg", "abs")}
    outcomes = compile_regions(sources, CpuTarget(), timeout=60, jobs=1)
    failed = {op for op, outcome in outcomes.items() if isinstance(outcome, CompileFailure)}
    assert failed == {"ceil"}


def test_the_cache_saves_the_second_compilation(monkeypatch, tmp_path):
    """A cache that is written but not read, or read under another key, saves nothing."""
    calls = use_compiler(monkeypatch, tmp_path, "cat > /dev/null; printf compiled")
    cache = RegionCache(tmp_path / "regions")
    first = compile_regions({"a": "text"}, CpuTarget(), timeout=60, cache=cache)
    assert compile_regions({"b": "text"}, CpuTarget(), timeout=60, cache=cache) == {"b": first["a"]}
    assert calls() == 1
    compile_regions({"a": "text"}, CpuTarget(data_tiling=True), timeout=60, cache=cache)
    assert calls() == 2


@pytest.mark.usefixtures("remembered_runs")
def test_a_plan_that_could_not_be_read_is_read_the_next_time(monkeypatch, tmp_path):
    """Would catch a region that has no plan for ever, since the machine was busy when it was compiled."""

    def ended(asked, text, timeout):
        raise OSError("exit status -9, no message")

    cache = RegionCache(tmp_path / "regions")
    with monkeypatch.context() as broken:
        broken.setattr(iree_worker.worker, "ask", ended)
        first = compile_regions({"a": region("relu")}, CpuTarget(), timeout=60, cache=cache, plans=True)["a"]
    assert isinstance(first, CompiledRegion)
    assert first.why_unplanned == "reading the plan failed: exit status -9, no message"
    second = compile_regions({"a": region("relu")}, CpuTarget(), timeout=60, cache=cache, plans=True)["a"]
    assert isinstance(second, LaunchPlan)


def test_an_evicted_module_is_compiled_again(monkeypatch, tmp_path):
    """Would catch a name without the code that it stands for (many regions share a module), also counted as a hit."""
    calls = use_compiler(monkeypatch, tmp_path, "cat > /dev/null; printf compiled")
    cache = RegionCache(tmp_path / "regions")
    first = compile_regions({"a": "text"}, CpuTarget(), timeout=60, cache=cache)
    for path in cache.directory.glob("*/*"):
        if path.read_bytes().endswith(b"compiled"):
            path.unlink()
    cache = RegionCache(tmp_path / "regions")
    assert compile_regions({"a": "text"}, CpuTarget(), timeout=60, cache=cache) == first
    assert (calls(), cache.hits) == (2, 0)
    cache = RegionCache(tmp_path / "regions")
    compile_regions({"a": "text"}, CpuTarget(), timeout=60, cache=cache)
    assert (calls(), cache.hits) == (2, 1)


def test_a_crash_is_a_failure(monkeypatch, tmp_path):
    """A compiler that dies of a signal would end in an exception, or be taken for an empty result."""
    calls = use_compiler(monkeypatch, tmp_path, "cat > /dev/null; kill -SEGV $$")
    cache = RegionCache(tmp_path / "regions")
    for _ in range(2):
        failure = compile_regions({"a": "text"}, CpuTarget(), timeout=60, cache=cache)["a"]
        assert isinstance(failure, CompileFailure)
        assert failure.reason == "crash: SIGSEGV"
    assert calls() == 1
    assert not cache.directory.exists()


def test_a_crash_before_the_text_was_read_is_a_failure(monkeypatch, tmp_path):
    """Writing to a process that is gone raises BrokenPipeError, which must not reach the user."""
    use_compiler(monkeypatch, tmp_path, "kill -ABRT $$")
    failure = compile_regions({"a": "text" * 1_000_000}, CpuTarget(), timeout=60)["a"]
    assert isinstance(failure, CompileFailure)
    assert failure.reason == "crash: SIGABRT"


def test_a_time_out_ends_the_compiler_and_its_children(monkeypatch, tmp_path):
    """A linker that outlives its compiler keeps the pipes open, and the call would wait for it."""
    use_compiler(monkeypatch, tmp_path, "sleep 30 & sleep 30")
    start = time.monotonic()
    failure = compile_regions({"a": "text"}, CpuTarget(), timeout=0.2)["a"]
    assert isinstance(failure, CompileFailure)
    assert failure.reason == "time-out after 0.2 s"
    assert time.monotonic() - start < 10


def test_compiler_has_a_bound_of_its_own(monkeypatch, tmp_path):
    """Catches a compiler that runs for ever after its parent was killed: the limit is the kernel's, in CPU seconds."""
    use_compiler(monkeypatch, tmp_path, "cat > /dev/null; sleep 0.3; ulimit -t")
    compiled = compile_regions({"a": "text"}, CpuTarget(), timeout=7)["a"]
    assert isinstance(compiled, CompiledRegion)
    assert int(compiled.module) == 7 * (os.cpu_count() or 1) + 1


def test_a_time_out_holds_for_its_limit(monkeypatch, tmp_path):
    """A region that took too long once would stay a library call although the user now gives it more time."""
    use_compiler(monkeypatch, tmp_path, "cat > /dev/null; sleep 1; printf compiled")
    assert isinstance(compile_regions({"a": "slow"}, CpuTarget(), timeout=0.1)["a"], CompileFailure)
    assert isinstance(compile_regions({"a": "slow"}, CpuTarget(), timeout=60)["a"], CompiledRegion)


def test_a_region_that_hangs_costs_its_batch_one_time_out_and_itself_another(monkeypatch, tmp_path):
    """Halving a batch that timed out would wait again for each half, minutes in all."""
    hang = "text=$(cat); case $text in *aten.ceil*) sleep 30;; esac; printf compiled"
    calls = use_compiler(monkeypatch, tmp_path, hang)
    sources = {op: region(op) for op in ("relu", "ceil", "neg", "abs")}
    outcomes = compile_regions(sources, CpuTarget(), timeout=1.5, jobs=1)
    assert {op for op, outcome in outcomes.items() if isinstance(outcome, CompileFailure)} == {"ceil"}
    assert calls() == 5


def test_regions_are_compiled_at_the_same_time(monkeypatch, tmp_path):
    """`jobs` that ends up unused would double the waiting: each of these two compilers waits for the other."""
    arrive = f"cat > /dev/null; mktemp {tmp_path}/here.XXXXXX > /dev/null"
    wait = f"while [ $(ls {tmp_path}/here.* | wc -l) -lt 2 ]; do sleep 0.05; done"
    use_compiler(monkeypatch, tmp_path, f"{arrive}; {wait}; printf compiled")
    outcomes = compile_regions({"a": "1", "b": "2"}, CpuTarget(), timeout=20, jobs=2)
    assert {outcome.module for outcome in outcomes.values()} == {b"compiled"}


def test_an_interrupted_beginning_ends_what_has_begun(monkeypatch):
    """Catches Ctrl-C while batches are handed over, after which compilers and their threads are left."""
    handed, ended = [], []

    def submitted(pool, *given):
        handed.append(given)
        if len(handed) == 2:
            raise KeyboardInterrupt
        return Future()

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submitted)
    monkeypatch.setattr(CompilerRuns, "stop", lambda runs: ended.append(runs))
    with pytest.raises(KeyboardInterrupt):
        Compilation({"a": "1", "b": "2"}, CpuTarget(), timeout=60, jobs=2)
    assert len(ended) == 1
