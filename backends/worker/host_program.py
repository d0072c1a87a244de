"""Reads launch plans from the text of `iree-compile --compile-to=hal`, in the form that docs/launch-plans.md describes.

Whatever stands on none of the lists below makes the function one for IREE's runtime: `Unreadable` says why.
"""

import re
from collections.abc import Iterator
from typing import Any

from iree.compiler import ir

from dovetail.backends.worker.executables import FORMATS, Executable, executable, name_in_code
from dovetail.backends.worker.numbers import NUMBERS, Numbers, Unreadable, made_by, number

# What a command buffer holds beside its commands.
_AROUND = frozenset(
    "arith.constant util.global.load util.return hal.command_buffer.create hal.command_buffer.finalize "
    "hal.executable.lookup.function".split()
)
_EXECUTE, _EXECUTE_RECORDED = "hal.device.queue.execute", "hal.device.queue.execute.indirect"
_FENCED = ("hal.device.queue.alloca", "hal.device.queue.dealloca", "hal.device.queue.barrier", _EXECUTE,
           _EXECUTE_RECORDED)  # fmt: skip
# What a function holds beside its launches and numbers: types, checks of arguments, the order of its command buffers.
_ASIDE = _AROUND | frozenset(
    "util.null hal.element_type hal.encoding_type hal.memory_type hal.buffer_usage hal.device.allocator "
    "hal.buffer_view.assert hal.buffer.assert hal.buffer_view.buffer hal.fence.create hal.fence.join".split()
).union(_FENCED)

# What uploads a constant when a module is loaded; its blocks are for devices that can and can't read it where it lies.
_UPLOAD = frozenset(
    "arith.constant util.null util.buffer.constant hal.buffer_usage hal.memory_type util.global.load "
    "hal.device.allocator hal.allocator.import cf.cond_br hal.allocator.allocate hal.ex.file.from_memory "
    "hal.fence.create hal.device.queue.read cf.br hal.fence.await util.status.check_ok util.global.store "
    "util.return".split()
)


def read_plans(text: bytes, names: list[str]) -> tuple[dict[str, Any], bytes]:
    """The plan of each of `names`, functions of `text`, or why it has none; and then the code that plans need."""
    with ir.Context():
        module = ir.Module.parse(text)
        host = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in _named(module)}
        codes = {name: made for name, op in host.items() if (made := executable(op)) is not None}
        used: dict[str, bytes] = {}
        found: dict[str, Any] = {}
        for name in names:
            try:
                found[name] = _Reader(module, host, codes, name).plan()
                used[found[name]["executable"]] = codes[found[name]["executable"]].code
            except Unreadable as reason:
                found[name] = {"unreadable": str(reason)}
    return {"plans": found, "codes": {name: len(code) for name, code in used.items()}}, b"".join(used.values())


def _named(module: ir.Module) -> Iterator[ir.Operation]:
    return (op.operation for op in module.body.operations if "sym_name" in op.attributes)


class _Reader:
    """Reads the plan of one function. Buffers are numbered: its arguments in order, its transients, its constants."""

    def __init__(self, module: ir.Module, host: dict[str, ir.Operation], codes: dict[str, Executable], name: str):
        self.module, self.host, self.codes = module, host, codes
        if f"{name}$async" not in host:
            raise Unreadable("there is no such function")
        function = host[f"{name}$async"]
        self.ops = _line(function)
        arguments = [each for each in function.regions[0].blocks[0].arguments if str(each.type) != "!hal.fence"]
        self.places = {argument: place for place, argument in enumerate(arguments)}
        self.argument_count = len(arguments)
        self.numbers = Numbers(self.places)
        self.buffers: dict[ir.Value, int] = {}
        self.transients: list[int | str] = []
        self.constants: dict[bytes, int] = {}
        self.steps: list[dict[str, Any]] = []
        self.executables: set[str] = set()

    def plan(self) -> dict[str, Any]:
        _check(self.ops, _ASIDE | NUMBERS | set(_COMMANDS))
        self._check_order()
        for op in self.ops:
            if op.name == "hal.buffer_view.buffer":
                self.buffers[op.results[0]] = self.places[op.operands[0]]
            elif op.name == "hal.device.queue.alloca":
                self.buffers[op.results[0]] = self.argument_count + len(self.transients)
                self.transients.append(self.numbers.read(op.operands[-1]))
        for op in self.ops:
            if op.name == _EXECUTE:
                self._execute(op)
            elif op.name == _EXECUTE_RECORDED:
                self._execute_recorded(op)
        if len(self.executables) != 1:
            raise Unreadable(f"its code lies in {len(self.executables)} executables, expected one")
        return {
            "executable": self.executables.pop(),
            "arguments": self.argument_count,
            "values": self.numbers.values,
            "transients": self.transients,
            "constants": [each.hex() for each in self.constants],
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
        """Adds the steps of command buffers that the function itself records, as where numbers follow from sizes."""
        for commands in (value for value in op.operands if str(value.type) == "!hal.command_buffer"):
            made_by(commands, "hal.command_buffer.create")
            self._add_steps([each for each in self.ops if each.name in _COMMANDS and each.operands[0] == commands], [])

    def _execute_recorded(self, op: ir.Operation) -> None:
        """Adds the steps of one command buffer; the queue's fences order it after the one before."""
        commands = next(value for value in op.operands if str(value.type) == "!hal.command_buffer")
        buffers = [value for value in op.operands if str(value.type) == "!hal.buffer"]
        numbers = [number(value) for value in list(op.operands)[-2 * len(buffers) :]]
        table = list(zip(buffers, numbers[: len(buffers)], numbers[len(buffers) :], strict=True))
        ops = _line(self._recorded(commands))
        _check(ops, _AROUND | set(_COMMANDS))
        self._add_steps([each for each in ops if each.name in _COMMANDS], table)

    def _add_steps(self, commands: list[ir.Operation], table: list) -> None:
        self.steps += [_COMMANDS[each.name](self, each, table) for each in commands]
        self.steps.append({"op": "barrier"})

    def _range(self, table: list, slot: ir.Value, offset: ir.Value, length: ir.Value) -> list[int | str]:
        """A range that a command touches: of a buffer, of a slot of the command buffer, or of a constant."""
        if slot in self.buffers:
            return [self.buffers[slot], self.numbers.read(offset), self.numbers.read(length)]
        start, size = number(offset), number(length)
        if str(slot.type) == "!hal.buffer":
            return self._constant(slot, start, size)
        buffer, first, available = table[number(slot)]
        if start + size > available:
            raise Unreadable(f"bytes {start} to {start + size} lie outside of a binding of {available}")
        if buffer not in self.buffers:
            return self._constant(buffer, first + start, size)
        return [self.buffers[buffer], first + start, size]

    def _constant(self, value: ir.Value, start: int, size: int) -> list[int | str]:
        """The bytes that are read of a constant, as a buffer of their own: many functions may share what it lies in."""
        data = _contents(self._stored(made_by(value, "util.global.load")).parent)
        if start + size > len(data):
            raise Unreadable(f"bytes {start} to {start + size} lie outside of a constant of {len(data)}")
        place = self.constants.setdefault(data[start : start + size], len(self.constants))
        return [self.argument_count + len(self.transients) + place, 0, size]

    def _recorded(self, commands: ir.Value) -> ir.Operation:
        """The function that records a command buffer, which a global remembers."""
        store = self._stored(made_by(commands, "util.global.load"))
        return self.host[_symbol(made_by(store.operands[0], "util.call"), "callee")]

    def _stored(self, load: ir.Operation) -> ir.Operation:
        """What initializes the global that `load` reads."""
        wanted = _symbol(load, "global")
        for initializer in (each.operation for each in self.module.body.operations):
            for op in _all(initializer) if initializer.name == "util.initializer" else ():
                if op.name == "util.global.store" and _symbol(op, "global") == wanted:
                    return op
        raise Unreadable(f"nothing initializes the global @{wanted}")

    def _dispatch(self, op: ir.Operation, table: list) -> dict[str, Any]:
        # Command buffer, executable, function, workgroups (3), constants; slots, offsets and lengths of the bindings.
        parts = _segments(op)
        if [len(part) for part in parts[:6]] != [1] * 6 or len(parts) != 10:
            raise Unreadable("a dispatch has another form than expected")
        (function,), constants, slots, offsets, lengths = parts[2], *parts[6:]
        looked_up = made_by(function, "hal.executable.lookup.function")
        place, _, entry = _path(looked_up.attributes["entry_point"])
        self.executables.add(place)
        if place not in self.codes:
            raise Unreadable(f"its code is not one binary of a known format: {', '.join(FORMATS)}")
        code = self.codes[place]
        if code.is_for_gpu:
            entry = name_in_code(entry)
            if code.parameters.get(entry) != (len(slots), len(constants)):
                raise Unreadable(f"its code has no function '{entry}' of {len(slots)} bindings")
        return {
            "op": "dispatch",
            "entry": entry,
            **code.launches.get(entry, {}),
            "workgroups": [self.numbers.read(part[0]) for part in parts[3:6]],
            "constants": [self.numbers.word(value) for value in constants],
            "bindings": [self._range(table, *each) for each in zip(slots, offsets, lengths, strict=True)],
        }

    def _copy(self, op: ir.Operation, table: list) -> dict[str, Any]:
        _, source, source_offset, target, target_offset, length = op.operands
        return {
            "op": "copy",
            "source": self._range(table, source, source_offset, length),
            "target": self._range(table, target, target_offset, length),
        }

    def _fill(self, op: ir.Operation, table: list) -> dict[str, Any]:
        _, target, offset, length, pattern = op.operands
        width = ir.IntegerType(pattern.type).width
        bits = number(pattern) & ((1 << width) - 1)
        return {"op": "fill", "target": self._range(table, target, offset, length), "pattern": bits, "bits": width}

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


def _all(op: ir.Operation) -> list[ir.Operation]:
    """The ops in all blocks of `op`."""
    return [each.operation for block in op.regions[0].blocks for each in block.operations]


def _contents(initializer: ir.Operation) -> bytes:
    """What `initializer` fills a buffer with: a constant, from its first byte to its last."""
    ops = _all(initializer)
    _check(ops, _UPLOAD)
    found = [op for op in ops if op.name in ("util.buffer.constant", "hal.allocator.import")]
    if [op.name for op in found] != ["util.buffer.constant", "hal.allocator.import"]:
        raise Unreadable("a constant is not one buffer")
    data = _composite(str(found[0].attributes["value"]))
    *_, source, start, size = found[1].operands
    if source != found[0].results[0] or number(start) != 0 or number(size) != len(data):
        raise Unreadable("a constant is a part of a buffer")
    return data


def _composite(text: str) -> bytes:
    """The bytes of `#util.composite<64xi8, [`, a line for each part, and `]>`: it has no bindings."""
    form = re.fullmatch(r"#util.composite<(\d+)xi8, \[\n(.*)\]>", text, re.DOTALL)
    if form is None:
        raise Unreadable("a constant is written in another form than expected")
    parts = [ir.Attribute.parse(each.strip().removesuffix(",")) for each in form[2].splitlines()]
    try:
        data = b"".join(memoryview(each).tobytes() for each in parts)
    except (TypeError, BufferError, ir.MLIRError) as error:
        raise Unreadable(f"a constant's elements can't be read: {error}") from error
    if len(data) != int(form[1]):
        raise Unreadable(f"a constant's parts have {len(data)} bytes, expected {form[1]}")
    return data


def _segments(op: ir.Operation) -> list[list[ir.Value]]:
    operands = iter(op.operands)
    sizes = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
    return [[next(operands) for _ in range(size)] for size in sizes]


def _is_given(fence: ir.Value) -> bool:
    """Whether nobody here need signal `fence`: it is the caller's, or none."""
    return isinstance(fence.owner, ir.Block) or fence.owner.name == "util.null"


def _symbol(op: ir.Operation, name: str) -> str:
    return ir.FlatSymbolRefAttr(op.attributes[name]).value


def _path(attribute: ir.Attribute) -> list[str]:
    return list(ir.SymbolRefAttr(attribute).value)
