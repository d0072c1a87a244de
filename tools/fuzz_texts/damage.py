"""Ways to change files of bytes: modules as bytecode, and artifacts, of which the archive may be sound and lie."""

import hashlib
import io
import json
import stat
import warnings
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

from dovetail.tools.fuzz_texts import payloads
from dovetail.tools.fuzz_texts.mutations import mutated

_MODULE, _MANIFEST = "module.mlir", "artifact.json"
_NAMES = (
    f"../../{payloads.CANARY}",
    f"/tmp/{payloads.CANARY}",
    "code/x.vmfb",
    _MODULE,
    _MANIFEST,
    "",
    "a" * 300,
    "code/",
)


def damaged(contents: bytes, draw: Random) -> bytes:
    """`contents` with some bytes changed, gone, repeated or new."""
    changed = bytearray(contents)
    for _ in range(draw.choice((1, 1, 2, 8))):
        at, length = draw.randrange(len(changed) + 1), draw.choice((1, 1, 2, 4, 64))
        kind = draw.randrange(5)
        if kind == 0 and changed:
            changed[min(at, len(changed) - 1)] ^= 1 << draw.randrange(8)
        elif kind == 1:
            changed[at : at + length] = draw.randbytes(length)
        elif kind == 2:
            del changed[at : at + length]
        elif kind == 3:
            changed[at:at] = changed[at : at + length]
        else:
            changed[at : at + length] = draw.choice((b"\xff", b"\0")) * length
    return bytes(changed[: draw.randrange(len(changed) + 1)] if draw.random() < 0.1 else changed)


def damaged_artifact(contents: bytes, draw: Random) -> bytes:
    """An artifact whose bytes, files or module changed."""
    if draw.random() < 0.3:
        return damaged(contents, draw)
    with zipfile.ZipFile(io.BytesIO(contents)) as archive:
        files = {each: archive.read(each) for each in archive.namelist()}
    draw.choice(_FILE_CHANGES)(files, draw)
    return _archive(files, draw)


def _change_module(files: dict[str, bytes], draw: Random) -> None:
    """The module says something else, and the manifest knows."""
    files[_MODULE] = mutated(files[_MODULE].decode(), draw).encode()
    manifest = json.loads(files[_MANIFEST])
    manifest["module"] = hashlib.sha256(files[_MODULE]).hexdigest()
    files[_MANIFEST] = json.dumps(manifest).encode()


def _change_manifest(files: dict[str, bytes], draw: Random) -> None:
    values: tuple[Any, ...] = (
        None,
        0,
        -1,
        [],
        {},
        "",
        payloads.text(draw),
        1e308,
        {"file": f"../{payloads.CANARY}", "entry": "main"},
    )
    manifest = json.loads(files[_MANIFEST])
    target = draw.choice([manifest, manifest["target"], manifest["regions"], *manifest["regions"].values()])
    key = draw.choice([*target, payloads.text(draw)])
    if draw.random() < 0.3:
        target.pop(key, None)
    else:
        target[key] = draw.choice(values)
    files[_MANIFEST] = json.dumps(manifest).encode()


def _nest_manifest(files: dict[str, bytes], draw: Random) -> None:
    deep = draw.choice((1000, 200_000))
    files[_MANIFEST] = draw.choice((b"[" * deep, b'{"a":' * deep, b"[" * deep + b"]" * deep))


def _change_code(files: dict[str, bytes], draw: Random) -> None:
    """The code is another's, of whose making the manifest knows nothing."""
    name = draw.choice([file for file in files if file.startswith("code/")])
    files[name] = draw.choice((b"", b"no code", damaged(files[name], draw)))


def _drop_file(files: dict[str, bytes], draw: Random) -> None:
    del files[draw.choice(list(files))]


def _add_file(files: dict[str, bytes], draw: Random) -> None:
    files[draw.choice(_NAMES)] = draw.choice((b"", b"x" * 1000, files[_MODULE]))


def _rename_file(files: dict[str, bytes], draw: Random) -> None:
    files[draw.choice(_NAMES)] = files.pop(draw.choice(list(files)))


def _change_bytes(files: dict[str, bytes], draw: Random) -> None:
    name = draw.choice(list(files))
    files[name] = damaged(files[name], draw)


_FileChange = Callable[[dict[str, bytes], Random], None]
_FILE_CHANGES: tuple[_FileChange, ...] = (
    *(_change_module,) * 4,
    *(_change_manifest,) * 3,
    _nest_manifest,
    _change_code,
    _drop_file,
    _add_file,
    _rename_file,
    _change_bytes,
)


def _archive(files: dict[str, bytes], draw: Random) -> bytes:
    """An archive of `files`; now and then one is there twice, is a link, or states another size than it has."""
    buffer = io.BytesIO()
    odd = draw.choice(("", "", "", "twice", "link", "bzip2", "size"))
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # about the file that is there twice
        for name, contents in files.items():
            member = zipfile.ZipInfo(name)
            member.compress_type = zipfile.ZIP_BZIP2 if odd == "bzip2" else zipfile.ZIP_DEFLATED
            member.external_attr = (stat.S_IFLNK if odd == "link" else 0) << 16
            archive.writestr(member, contents)
        if odd == "twice":
            archive.writestr(draw.choice(list(files) or ["x"]), b"")
        if odd == "size" and archive.filelist:
            # What the directory at the archive's end will state.
            draw.choice(archive.filelist).file_size = draw.choice((0, 1, 1 << 31, (1 << 32) - 2))
    return buffer.getvalue()
