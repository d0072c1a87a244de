"""Reads launch plans from the text of `iree-compile --compile-to=hal`, with IREE's own bindings.

A program of its own, run in a worker process, so that nothing that goes wrong in IREE's library ends the user's. It
imports nothing of ours, which would bring torch along. Its argument is the number of a connection, through which come
a JSON list of names of functions and then the text; the answer is JSON, which docs/launch-plans.md describes, and then
the bytes of the code. It ends with whoever holds the other end, or when nobody asks for `IDLE_SECONDS`.

Whatever stands on none of the lists below makes the function one for IREE's runtime: `Unreadable` says why.
"""

import json
import sys
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

from iree.compiler import ir

FORMAT = "embedded-elf-x86_64"
IDLE_SECONDS = 30

# What a function holds beside its launches: numbers, types, checks of arguments and the order of its command buffers.
_ASIDE = frozenset(
    "arith.constant util.global.load util.null util.return hal.element_type hal.encoding_type hal.memory_type "
    "hal.buffer_usage hal.device.allocator hal.buffer_view.assert hal.buffer.assert hal.buffer_view.buffer "
    "hal.fence.create hal.fence.join hal.device.queue.alloca hal.device.queue.dealloca hal.device.queue.barrier "
    "hal.device.queue.execute.indirect".split()
)
# What a command buffer holds beside its commands.
_AROUND = frozenset(
    "arith.constant util.global.load util.return hal.command_buffer.create hal.command_buffer.finalize "
    "hal.executable.lookup.function".split()
)
_FENCED = ("hal.device.queue.alloca", "hal.device.queue.dealloca", "hal.device.queue.execute.indirect",
           "hal.device.queue.barrier")  # fmt: skip


class Unreadable(Exception):
    """Why a function has no plan."""


def main() -> None:
    connection = Connection(int(sys.argv[1]))
    while connection.poll(IDLE_SECONDS):
        try:
            names, text = json.loads(connection.recv_bytes()), connection.recv_bytes()
        except EOFError:
            return
        facts, code = _answer(text, names)
        connection.send_bytes(json.dumps(facts).encode())
        connection.send_bytes(code)


def _answer(text: bytes, names: list[str]) -> tuple[dict[str, Any], bytes]:
    with ir.Context():
        module = ir.Module.parse(text)
        host = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in _named(module)}
        codes = {name: code for name, op in host.items() if (code := _code(op)) is not None}
        used: dict[str, bytes] = {}
        found: dict[str, Any] = {}
        for name in names:
            try:
                found[name] = _Reader(module, host, name).plan()
                executable = found[name]["executable"]
                if executable not in codes:
                    raise Unreadable(f"its code is not one binary of format {FORMAT}")
                used[executable] = codes[executable]
            except Unreadable as reason:
                found[name] = {"unreadable": str(reason)}
    return {"plans": found, "codes": {name: len(code) for name, code in used.items()}}, b"".join(used.values())


def _named(module: ir.Module) -> Iterator[ir.Operation]:
    return (op.operation for op in module.body.operations if "sym_name" in op.attributes)


def _code(op: ir.Operation) -> bytes | None:
    """The one binary of an executable; None for anything else."""
    if op.name != "hal.executable":
        return None
    inside = [each.operation for each in op.regions[0].blocks[0].operations]
    if [each.name for each in inside] != ["hal.executable.binary", "hal.executable_end"]:
        return None
    if ir.StringAttr(inside[0].attributes["format"]).value != FORMAT:
        return None
    return bytes(memoryview(inside[0].attributes["data"]))


class _Reader:
    """Reads the plan of one function. Buffers are numbered: its arguments in order, then its transients."""

    def __init__(self, module: ir.Module, host: dict[str, ir.Operation], name: str):
        self.module, self.host = module, host
        if f"{name}$async" not in host:
            raise Unreadable("there is no such function")
        function = host[f"{name}$async"]
        self.ops = _line(function)
        arguments = [each for each in function.regions[0].blocks[0].arguments if str(each.type) == "!hal.buffer_view"]
        self.places = {argument: place for place, argument in enumerate(arguments)}
        self.argument_count = len(arguments)
        self.buffers: dict[ir.Value, int] = {}
        self.transients: list[int] = []
        self.steps: list[dict[str, Any]] = []
        self.executables: set[str] = set()

    def plan(self) -> dict[str, Any]:
        _check(self.ops, _ASIDE)
        self._check_order()
        for op in self.ops:
            if op.name == "hal.buffer_view.buffer":
                self.buffers[op.results[0]] = self.places[op.operands[0]]
            elif op.name == "hal.device.queue.alloca":
                self.buffers[op.results[0]] = self.argument_count + len(self.transients)
                self.transients.append(_number(op.operands[-1]))
            elif op.name == "hal.device.queue.execute.indirect":
                self._execute(op)
        if len(self.executables) != 1:
            raise Unreadable(f"its code lies in {len(self.executables)} executables, expected one")
        return {
            "executable": self.executables.pop(),
            "arguments": self.argument_count,
            "transients": self.transients,
            "steps": self.steps,
        }

    def _check_order(self) -> None:
        """What the queue does, in the order of the text: each must wait for nothing that comes after it.

        Fences are made before they are signalled, so a fence that an op waits for was signalled by an op above it, or
        is the caller's.
        """
        signalled: set[ir.Value] = set()
        for op in self.ops:
            fences = [value for value in op.operands if str(value.type) == "!hal.fence"]
            if op.name == "hal.fence.join":
                waits, signals = fences, op.results[0]
            elif op.name in _FENCED:
                *waits, signals = fences
            else:
                continue
            if not all(_is_given(each) or each in signalled for each in waits):
                raise Unreadable("its queue waits for a fence that nothing above has signalled")
            signalled.add(signals)

    def _execute(self, op: ir.Operation) -> None:
        """Adds the steps of one command buffer; the queue's fences order it after the one before."""
        commands = next(value for value in op.operands if str(value.type) == "!hal.command_buffer")
        buffers = [value for value in op.operands if str(value.type) == "!hal.buffer"]
        numbers = [_number(value) for value in list(op.operands)[-2 * len(buffers) :]]
        table = [
            (self._buffer(buffer), offset, length)
            for buffer, offset, length in zip(buffers, numbers[: len(buffers)], numbers[len(buffers) :], strict=True)
        ]
        ops = _line(self._recorded(commands))
        _check(ops, _AROUND | set(_COMMANDS))
        for each in ops:
            if each.name in _COMMANDS:
                self.steps.append(_COMMANDS[each.name](self, each, table))
        self.steps.append({"op": "barrier"})

    def _buffer(self, value: ir.Value) -> int:
        if value not in self.buffers:
            raise Unreadable(f"a binding comes from '{value.owner.name}'")
        return self.buffers[value]

    def _recorded(self, commands: ir.Value) -> ir.Operation:
        """The function that records a command buffer, which a global remembers."""
        wanted = _symbol(_made_by(commands, "util.global.load"), "global")
        for op in (each.operation for each in self.module.body.operations if each.operation.name == "util.initializer"):
            for inner in (each.operation for each in op.regions[0].blocks[0].operations):
                if inner.name == "util.global.store" and _symbol(inner, "global") == wanted:
                    return self.host[_symbol(_made_by(inner.operands[0], "util.call"), "callee")]
        raise Unreadable("its command buffer is not recorded once and for all")

    def _dispatch(self, op: ir.Operation, table: list) -> dict[str, Any]:
        # Command buffer, executable, function, workgroups (3), constants; slots, offsets and lengths of the bindings.
        parts = _segments(op)
        if [len(part) for part in parts[:6]] != [1] * 6 or len(parts) != 10:
            raise Unreadable("a dispatch has another form than expected")
        (function,), constants, slots, offsets, lengths = parts[2], *parts[6:]
        looked_up = _made_by(function, "hal.executable.lookup.function")
        executable, _, entry = _path(looked_up.attributes["entry_point"])
        self.executables.add(executable)
        return {
            "op": "dispatch",
            "entry": entry,
            "workgroups": [_number(part[0]) for part in parts[3:6]],
            "constants": [_number(value) & 0xFFFFFFFF for value in constants],
            "bindings": [_range(table, *each) for each in zip(slots, offsets, lengths, strict=True)],
        }

    def _copy(self, op: ir.Operation, table: list) -> dict[str, Any]:
        _, source, source_offset, target, target_offset, length = op.operands
        return {
            "op": "copy",
            "source": _range(table, source, source_offset, length),
            "target": _range(table, target, target_offset, length),
        }

    def _fill(self, op: ir.Operation, table: list) -> dict[str, Any]:
        _, target, offset, length, pattern = op.operands
        width = ir.IntegerType(pattern.type).width
        number = _number(pattern) & ((1 << width) - 1)
        return {"op": "fill", "target": _range(table, target, offset, length), "pattern": number, "bits": width}

    def _barrier(self, op: ir.Operation, table: list) -> dict[str, Any]:
        return {"op": "barrier"}


_COMMANDS = {
    "hal.command_buffer.dispatch": _Reader._dispatch,
    "hal.command_buffer.copy_buffer": _Reader._copy,
    "hal.command_buffer.fill_buffer": _Reader._fill,
    "hal.command_buffer.execution_barrier": _Reader._barrier,
}


def _line(function: ir.Operation) -> list[ir.Operation]:
    blocks = list(function.regions[0].blocks)
    if len(blocks) != 1:
        raise Unreadable("it has branches")
    return [op.operation for op in blocks[0].operations]


def _check(ops: list[ir.Operation], known: frozenset[str]) -> None:
    unknown = sorted({op.name for op in ops} - known)
    if unknown:
        raise Unreadable(f"nothing is known of {', '.join(unknown)}")


def _range(table: list, slot: ir.Value, offset: ir.Value, length: ir.Value) -> list[int]:
    buffer, start, available = table[_number(slot)]
    offset, length = _number(offset), _number(length)
    if offset + length > available:
        raise Unreadable(f"bytes {offset} to {offset + length} lie outside of a binding of {available}")
    return [buffer, start + offset, length]


def _segments(op: ir.Operation) -> list[list[ir.Value]]:
    operands = iter(op.operands)
    sizes = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
    return [[next(operands) for _ in range(size)] for size in sizes]


def _is_given(fence: ir.Value) -> bool:
    """Whether nobody here need signal `fence`: it is the caller's, or none."""
    return isinstance(fence.owner, ir.Block) or fence.owner.name == "util.null"


def _made_by(value: ir.Value, name: str) -> ir.Operation:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != name:
        raise Unreadable(f"expected the result of '{name}', got {value}")
    return owner


def _number(value: ir.Value) -> int:
    return ir.IntegerAttr(_made_by(value, "arith.constant").attributes["value"]).value


def _symbol(op: ir.Operation, name: str) -> str:
    return ir.FlatSymbolRefAttr(op.attributes[name]).value


def _path(attribute: ir.Attribute) -> list[str]:
    return list(ir.SymbolRefAttr(attribute).value)


if __name__ == "__main__":
    main()
