"""Content-addressed store of compiled regions on disk, shared by processes and safe against half-written files."""

import contextlib
import hashlib
import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from dovetail.backends.base_target import Target
from dovetail.backends.compiling.scheduling import (
    FLAGS_OF_PASSES,
    FLAGS_TO_FLOW,
    FLAGS_TO_HAL,
    PIPELINE_TO_COMMANDS,
    PIPELINE_TO_STREAM,
    pipelines,
)

log = logging.getLogger(__name__)

_MAGIC = b"dovetail-region-2\n"
_DIGEST_BYTES = 32

FORMAT = 7
"""Changes with what an entry says; entries of another format are never found."""

LIMIT_BYTES = 2 << 30
"""What all entries together may take on disk; the demo's models take a hundredth of it."""

# Bytes written since the entries of a folder were last added up, by folder and limit; at first nobody knows.
_unchecked: dict[tuple[Path, int], int] = {}


def cache_directory() -> Path:
    """`DOVETAIL_CACHE_DIR` where set, else the user's cache directory."""
    override = os.environ.get("DOVETAIL_CACHE_DIR")
    return Path(override) if override else Path(platformdirs.user_cache_dir("dovetail"))


def region_key(source: str, target: Target, plans: bool = False) -> str:
    """SHA-256, in hex, of everything that decides what is kept; `plans` are read where there are any, or not."""
    flags, passes = (*FLAGS_TO_FLOW, *FLAGS_TO_HAL, *FLAGS_OF_PASSES), pipelines(target.name, target.edits)
    decided = (FORMAT, target.fingerprint(), flags, PIPELINE_TO_COMMANDS, PIPELINE_TO_STREAM, *passes, plans, source)
    return hashlib.sha256("\0".join(map(str, decided)).encode()).hexdigest()


class RegionCache:
    """Compiled regions, and programs made of them, by key.

    An entry that can't be read, or whose digest differs, counts as a miss.
    Once the entries take more than `limit` bytes, those that were used least recently go, until a quarter is free.

    Attributes:
        hits: regions found since this object was made, without those that it stored itself.
        damaged: entries that were truncated or altered; each was deleted and is also a miss.
        evicted: entries that had to go.
    """

    def __init__(self, directory: Path | None = None, limit: int = LIMIT_BYTES):
        self.directory = (directory or cache_directory()) / "regions"
        self.limit = limit
        self.evicted = 0
        self.hits = 0
        self._stored: set[str] = set()
        self.damaged = 0

    def count_hit(self, key: str) -> None:
        """Counts the region under `key` as found, all that it needs being there."""
        self.hits += key not in self._stored

    def read(self, key: str) -> bytes | None:
        """The entry under `key`, or None where there is no sound one."""
        path = self._path(key)
        try:
            entry = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            log.warning("can't read the cache entry %s: %s; the region is compiled again", path, error)
            return None
        payload = _unpack(entry)
        if payload is None:
            log.warning("the cache entry %s is damaged; the region is compiled again", path)
            self.damaged += 1
        # A cache that is another user's, or read-only, serves all the same.
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True) if payload is None else os.utime(path)  # when it was last used
        return payload

    def store(self, key: str, compiled: bytes) -> None:
        """Writes an entry in one step, so that other processes see all of it or nothing.

        A store that fails (disk full, read-only) is logged: the region was compiled and works without it.
        """
        path = self._path(key)
        self._stored.add(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, _MAGIC + hashlib.sha256(compiled).digest() + compiled)
            folder = self.directory, self.limit
            _unchecked[folder] = _unchecked.get(folder, self.limit) + len(compiled)
            # Adding up all entries costs a look at each: once a process, and then now and again.
            if _unchecked[folder] >= self.limit // 16:
                self._evict()
        except OSError as error:
            log.warning("can't write the cache entry %s: %s; set DOVETAIL_CACHE_DIR to a writable folder", path, error)

    def _evict(self) -> None:
        """Removes what was used least recently; another process may be doing the same."""
        entries = [(stat.st_mtime_ns, stat.st_size, path) for path, stat in self._entries()]
        total = sum(size for _, size, _ in entries)
        _unchecked[self.directory, self.limit] = 0
        if total <= self.limit:
            return
        for _, size, path in sorted(entries):
            path.unlink(missing_ok=True)
            self.evicted += 1
            total -= size
            if total <= self.limit * 3 // 4:
                return

    def _entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        for path in self.directory.glob("*/*"):
            try:
                yield path, path.stat()
            except FileNotFoundError:
                continue  # evicted by another process

    def _path(self, key: str) -> Path:
        # Two levels keep folders small.
        return self.directory / key[:2] / key[2:]


def _write(path: Path, entry: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".writing-", delete=False) as file:
        try:
            file.write(entry)
            file.flush()
            os.replace(file.name, path)
        except BaseException:  # a full disk must not be kept full
            os.unlink(file.name)
            raise


def _unpack(entry: bytes) -> bytes | None:
    header = len(_MAGIC) + _DIGEST_BYTES
    payload = entry[header:]
    return payload if entry[:header] == _MAGIC + hashlib.sha256(payload).digest() else None
