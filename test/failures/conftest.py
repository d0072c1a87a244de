"""Failures are injected where the system would fail; afterwards nothing that was started may be left."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import torch._functorch.aot_autograd  # noqa: F401 (asks for a folder once: a test that has none would spoil the rest)

from dovetail.backends.compiling import compiler_runs, iree
from dovetail.backends.compiling.source import SCRIPT


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for each test, and no failures that are remembered."""
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(iree, "_failures", {})
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def no_leftovers() -> Iterator[None]:
    """Fails where a test leaves a process or a zombie behind; this process's worker waits for the next text."""
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    yield
    left = [child for child in psutil.Process().children(recursive=True) if child.pid not in before]
    assert not [each for each in left if not _is_the_sources(each)]


def _is_the_sources(process: psutil.Process) -> bool:
    """Whether it is what workers are forked from, or one of these: they end when nobody has asked for a while."""
    try:
        return str(SCRIPT) in process.cmdline()
    except psutil.ZombieProcess:
        return process.ppid() != os.getpid()


@pytest.fixture
def use_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a shell script in the compiler's place, which is `$REAL` there."""
    real = compiler_runs.compiler_executable()

    def use(script: str) -> None:
        path = tmp_path / "compiler"
        path.write_text(f"#!/bin/sh\nREAL={real}\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setattr(compiler_runs, "compiler_executable", lambda: path)

    return use
