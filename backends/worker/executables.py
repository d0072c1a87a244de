"""Executables in the text of IREE's phase `hal`: their code, and what launching each of its functions takes."""

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from iree.compiler import ir


@dataclass(frozen=True)
class Binary:
    """The code of one executable.

    Attributes:
        code: an ELF shared object for a CPU; PTX, a text, for a GPU.
        launches: of a GPU, by the name that a function has in `code`: `workgroup_size` and `shared_memory` of a launch.
        parameters: of a GPU, likewise: how many bindings and how many constants it takes.
    """

    code: bytes
    launches: dict[str, dict[str, Any]] = field(default_factory=dict)
    parameters: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def is_for_gpu(self) -> bool:
        """Whether its launches say how large workgroups are, and its functions have other names than in the text."""
        return bool(self.launches)


def executable(op: ir.Operation) -> Binary | None:
    """What `op` holds, if it is an executable of one binary of a known format."""
    if op.name != "hal.executable":
        return None
    inside = [view.operation for view in op.regions[0].blocks[0].operations]
    if [inner.name for inner in inside] != ["hal.executable.binary", "hal.executable_end"]:
        return None
    known = FORMATS.get(ir.StringAttr(inside[0].attributes["format"]).value)
    return None if known is None else known(bytes(memoryview(inside[0].attributes["data"])))


def name_in_code(entry: str) -> str:
    """What a GPU's function that the text calls `entry` is called in PTX, which knows letters, digits and `_`."""
    return re.sub(r"[^0-9A-Za-z_]", "_", entry)


def _cuda(data: bytes) -> Binary | None:
    """Reads IREE's flatbuffer for CUDA: a header of 64 bytes, then tables of exports and of modules."""
    if len(data) < _HEADER or data[:4] != _MAGIC or data[_HEADER + 4 : _HEADER + 8] != _MAGIC:
        return None
    buffer = _Flatbuffer(data[_HEADER:])
    root = buffer.pointed(0)
    modules = [buffer.string(module, 0) for module in buffer.tables(root, 1)]
    if len(modules) != 1:
        return None
    launches: dict[str, dict[str, Any]] = {}
    parameters: dict[str, tuple[int, int]] = {}
    for export in buffer.tables(root, 0):
        name = buffer.string(export, 1).decode()
        launches[name] = {
            "workgroup_size": buffer.numbers(export, 2, [1, 1, 1]),
            "shared_memory": buffer.numbers(export, 3, [0])[0],
        }
        parameters[name] = (buffer.vector(export, 5)[1], buffer.numbers(export, 4, [0])[0])
    return Binary(modules[0].rstrip(b"\0"), launches, parameters)


FORMATS: dict[str, Callable[[bytes], Binary | None]] = {"embedded-elf-x86_64": Binary, "cuda-nvptx-fb": _cuda}
"""What reads the binary of each format."""

_MAGIC = b"CDA1"
_HEADER = 64


class _Flatbuffer:
    """A buffer of tables: a table's fields are found through its vtable, by number; all offsets are relative."""

    def __init__(self, data: bytes):
        self.data = data

    def pointed(self, at: int) -> int:
        return at + self._u32(at)

    def field(self, table: int, number: int) -> int | None:
        """Where a field of `table` lies; None if it is not there."""
        vtable = table - struct.unpack_from("<i", self.data, table)[0]
        size, slot = struct.unpack_from("<H", self.data, vtable)[0], 4 + 2 * number
        offset = struct.unpack_from("<H", self.data, vtable + slot)[0] if slot < size else 0
        return table + offset if offset else None

    def numbers(self, table: int, number: int, otherwise: list[int]) -> list[int]:
        """Numbers that lie in the table itself; `otherwise`, as many, if the field is not there."""
        at = self.field(table, number)
        return otherwise if at is None else list(struct.unpack_from(f"<{len(otherwise)}I", self.data, at))

    def vector(self, table: int, number: int) -> tuple[int, int]:
        """Where the elements of a vector start, and how many there are; none if the field is not there."""
        at = self.field(table, number)
        return (0, 0) if at is None else (self.pointed(at) + 4, self._u32(self.pointed(at)))

    def tables(self, table: int, number: int) -> list[int]:
        start, count = self.vector(table, number)
        return [self.pointed(start + 4 * index) for index in range(count)]

    def string(self, table: int, number: int) -> bytes:
        start, count = self.vector(table, number)
        return self.data[start : start + count]

    def _u32(self, at: int) -> int:
        return struct.unpack_from("<I", self.data, at)[0]
