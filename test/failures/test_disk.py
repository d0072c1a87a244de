"""A disk that is full, a cache that can't be written or was altered, and many processes that write one."""

import errno
import logging
import os
import tempfile
from pathlib import Path

import pytest
from failing import call, fork, wait

from dovetail.backends.compiling.cache import RegionCache
from dovetail.errors import EagerWarning


def _fails(number: int):
    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    return fail


def test_full_while_an_entry_is_written(cache: Path, monkeypatch: pytest.MonkeyPatch, caplog):
    """Would catch a full disk that ends the program, or parts of entries that keep it full."""
    make = tempfile.NamedTemporaryFile

    def full(*arguments, **keywords):
        file = make(*arguments, **keywords)
        file.write = _fails(errno.ENOSPC)
        return file

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", full)
    with caplog.at_level(logging.WARNING):
        assert call().regions == 1
    assert "No space left on device; set DOVETAIL_CACHE_DIR to a writable folder" in caplog.text
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_full_while_a_failure_is_noted(monkeypatch: pytest.MonkeyPatch, use_compiler, caplog):
    """Would catch a region's failure that becomes the program's, since its text can't be kept."""
    use_compiler("exit 1")
    monkeypatch.setattr(Path, "write_text", _fails(errno.ENOSPC))
    with caplog.at_level(logging.WARNING):
        assert call().failures
    assert "the region's text could not be written: " in caplog.text


@pytest.mark.parametrize("function", ["mkdtemp", "write_text"])
def test_full_while_a_stage_is_dumped(function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch a dump that ends the program that it is to explain."""
    monkeypatch.setenv("DOVETAIL_DUMP", str(tmp_path / "dump"))
    monkeypatch.setattr(tempfile if function == "mkdtemp" else Path, function, _fails(errno.ENOSPC))
    with pytest.warns(EagerWarning, match="No space left on device"):
        assert call().eager.total() == 1


@pytest.mark.usefixtures("remembered_runs")
def test_a_cache_that_cannot_be_written_hits(monkeypatch: pytest.MonkeyPatch, caplog):
    """Would catch a shared or read-only cache that is compiled anew in each process."""
    # Not by the folder's mode: root, who runs tests in containers, may write anywhere.
    assert call().cache_hits == 0
    for owner, name in ((os, "utime"), (os, "replace"), (Path, "mkdir"), (Path, "unlink"), (tempfile, "mkstemp")):
        monkeypatch.setattr(owner, name, _fails(errno.EROFS))
    monkeypatch.setattr(tempfile, "NamedTemporaryFile", _fails(errno.EROFS))
    assert call().cache_hits == 1
    assert [record for record in caplog.records if record.name.startswith("dovetail")] == []


def test_a_cache_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch, caplog):
    """Would catch another user's entries that end the program."""
    call()
    monkeypatch.setattr(Path, "read_bytes", _fails(errno.EACCES))
    with caplog.at_level(logging.WARNING):
        work = call()
    assert (work.regions, work.cache_hits) == (1, 0)
    assert "can't read the cache entry" in caplog.text


@pytest.mark.usefixtures("remembered_runs")
@pytest.mark.parametrize(("damage", "can_write"), [("truncated", True), ("emptied", True), ("flipped", False)])
def test_entries_that_were_altered(damage: str, can_write: bool, cache: Path, monkeypatch: pytest.MonkeyPatch, caplog):
    """Would catch altered machine code that runs, and a damaged entry in a read-only cache that ends the program."""
    call()
    for path in (cache / "regions").glob("*/*"):
        entry = bytearray(path.read_bytes())
        entry[-1] ^= 1
        path.write_bytes({"truncated": entry[:-9], "flipped": entry, "emptied": b""}[damage])
    if not can_write:
        monkeypatch.setattr(Path, "unlink", _fails(errno.EROFS))
    with caplog.at_level(logging.WARNING):
        work = call()
    assert (work.regions, work.cache_hits) == (1, 0)
    assert "is damaged; the region is compiled again" in caplog.text


def test_no_such_temporary_folder(monkeypatch: pytest.MonkeyPatch):
    """Would catch a job's folder that is gone, as on clusters, and for want of which the compiler fails."""
    monkeypatch.setenv("TMPDIR", "/nowhere")
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert call().regions == 1


def test_no_temporary_folder(monkeypatch: pytest.MonkeyPatch):
    """Would catch a machine without one that ends the program."""
    monkeypatch.setattr(tempfile, "gettempdir", _fails(errno.ENOENT))
    with pytest.warns(EagerWarning, match="No such file or directory"):
        assert call().eager.total() == 1


def test_eight_processes_write_one_cache(cache: Path):
    """Would catch half-written entries, and evictions that meet another process's."""
    entries = {f"{number:02x}{'0' * 62}": bytes([number]) * 4096 for number in range(24)}

    def use():
        for _ in range(4):
            store = RegionCache(cache, limit=64 << 10)
            for key, entry in entries.items():
                assert store.read(key) in (None, entry)
                store.store(key, entry)
            assert store.damaged == 0

    for status in [wait(pid) for pid in [fork(use) for _ in range(8)]]:
        assert status == 0
    assert list((cache / "regions").glob("*/.writing-*")) == []
