"""Reads an artifact's files out of its archive, which may be anybody's: nothing is extracted, sizes are bounded."""

import re
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO

MANIFEST, MODULE = "artifact.json", "module.mlir"
_FILE = re.compile(rf"{re.escape(MANIFEST)}|{re.escape(MODULE)}|code/[0-9a-f]{{64}}\.(vmfb|so)")

LIMIT_BYTES = 1 << 30
"""What all files of an artifact together may hold; those of the demo's models take a hundredth."""


class ArchiveError(Exception):
    """An archive that is damaged, or holds other things than an artifact does; says which."""


def read_archive(archived: Path | BinaryIO, wanted: Collection[str] | None = None) -> dict[str, bytes]:
    """The contents of the files of an archive, at a path or in memory, by name, of those `wanted` or of all.

    Raises:
        ArchiveError: for an archive that is damaged or none, for a file that artifacts don't have, that is there twice,
            or no plain file, and for more than `LIMIT_BYTES`.
        OSError: if it can't be read.
    """
    try:
        with zipfile.ZipFile(archived) as archive:
            members = archive.infolist()
            _check(members)
            return {
                each.filename: _contents(archive, each) for each in members if wanted is None or each.filename in wanted
            }
    # Python's reader meets a damaged archive with any of these, MemoryError for sizes that are none.
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, MemoryError) as error:
        raise ArchiveError(str(error) or type(error).__name__) from error


def _check(members: list[zipfile.ZipInfo]) -> None:
    names = Counter(member.filename for member in members)
    for each in members:
        if _FILE.fullmatch(each.filename) is None:
            raise ArchiveError(f"expected {MANIFEST}, {MODULE} and code/<SHA-256>.vmfb or .so, got {each.filename!r}")
        if names[each.filename] > 1:
            raise ArchiveError(f"{each.filename} is there {names[each.filename]} times")
        if stat.S_IFMT(each.external_attr >> 16) not in (0, stat.S_IFREG):
            raise ArchiveError(f"{each.filename} is no plain file")
    for name in (MANIFEST, MODULE):
        if name not in names:
            raise ArchiveError(f"there is no {name}")
    total = sum(member.file_size for member in members)
    if total > LIMIT_BYTES:
        raise ArchiveError(f"its files hold {total} bytes, expected at most {LIMIT_BYTES}")


def _contents(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    # No more is decompressed than the size that the archive states.
    contents = archive.read(member)
    if len(contents) != member.file_size:
        raise ArchiveError(f"{member.filename} holds {len(contents)} bytes, expected {member.file_size}")
    return contents
