"""Reads launch plans from a text at IREE's phase `hal`, in the form that docs/launch-plans.md describes.

Whatever stands on none of the lists below makes the function one for IREE's runtime: `Unreadable` says why.
"""

from collections.abc import Callable
from typing import Any

from iree.compiler import ir

from dovetail.backends.worker.executables import FORMATS, Binary, executable, name_in_code
from dovetail.backends.worker.forwarded_copies import forward_copies
from dovetail.backends.worker.globals import contents
from dovetail.backends.worker.host_ops import Unreadable, check_known, made_by, number, ops_in, segments
from dovetail.backends.worker.launched_together import launch_together
from dovetail.backends.worker.numbers import NUMBERS, Numbers
from dovetail.backends.worker.walk import producer, reading

_EXECUTE, _COPY, _FILL = "hal.device.queue.execute", "hal.device.queue.copy", "hal.device.queue.fill"
_FENCED = ("hal.device.queue.alloca", "hal.device.queue.dealloca", "hal.device.queue.barrier", _COPY, _FILL, _EXECUTE)
# What a function holds beside its launches and numbers: types, checks of arguments, the order of its command buffers.
_ASIDE = frozenset(
    "arith.constant util.global.load util.return util.null hal.command_buffer.create hal.command_buffer.finalize "
    "hal.executable.lookup hal.executable.lookup.function hal.element_type hal.encoding_type hal.memory_type "
    "hal.buffer_usage hal.device.allocator hal.allocator.resolve_memory_properties hal.buffer_view.assert "
    "hal.buffer.assert hal.buffer_view.buffer hal.fence.create hal.fence.join".split()
).union(_FENCED)


def read_plans(text: bytes, names: list[str]) -> tuple[dict[str, Any], bytes]:
    """The plan of each of `names`, functions of `text`, or why it has none; and then the code that plans need."""
    with reading():
        module = ir.Module.parse(text)
        named = (op.operation for op in module.body.operations if "sym_name" in op.attributes)
        host = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in named}
        codes = {name: made for name, op in host.items() if (made := executable(op)) is not None}
        used: dict[str, bytes] = {}
        found: dict[str, Any] = {}
        for name in names:
            try:
                found[name] = _Reader(module, host, codes, name).plan()
                if index := found[name]["executable"]:
                    used[index] = codes[index].code
            except Unreadable as reason:
                found[name] = {"unreadable": str(reason)}
    for index in used:
        if codes[index].is_for_gpu:
            used[index] = launch_together(
                [plan for plan in found.values() if plan.get("executable") == index], used[index]
            )
    return {"plans": found, "codes": {name: len(code) for name, code in used.items()}}, b"".join(used.values())


class _Reader:
    """Reads the plan of one function. Buffers are numbered: its arguments in order, its transients, its constants."""

    def __init__(self, module: ir.Module, host: dict[str, ir.Operation], codes: dict[str, Binary], name: str):
        self.module, self.codes = module, codes
        if f"{name}$async" not in host:
            raise Unreadable("there is no such function")
        function = host[f"{name}$async"]
        if len(function.regions[0].blocks) != 1:
            raise Unreadable("it has branches")
        self.ops = ops_in(function)
        arguments = [each for each in function.regions[0].blocks[0].arguments if str(each.type) != "!hal.fence"]
        self.positions = {argument: index for index, argument in enumerate(arguments)}
        self.argument_count = len(arguments)
        self.numbers = Numbers(self.positions)
        self.buffers: dict[ir.Value, int] = {}
        self.transients: list[int | str] = []
        self.constants: dict[bytes, int] = {}
        self.steps: list[dict[str, Any]] = []
        self.executables: set[str] = set()

    def plan(self) -> dict[str, Any]:
        check_known(self.ops, _ASIDE | NUMBERS | set(_COMMANDS))
        self._check_order()
        for op in self.ops:
            if op.name == "hal.buffer_view.buffer":
                self.buffers[op.results[0]] = self.positions[op.operands[0]]
            elif op.name == "hal.device.queue.alloca":
                self.buffers[op.results[0]] = self.argument_count + len(self.transients)
                self.transients.append(self.numbers.read(op.operands[-1]))
        for op in self.ops:
            if op.name == _EXECUTE:
                self._execute(op)
            elif op.name in (_COPY, _FILL):
                self._add_steps([op])
        if len(self.executables) > 1:
            raise Unreadable(f"its code lies in {len(self.executables)} executables, expected one")
        plan = {
            "executable": next(iter(self.executables), ""),
            "arguments": self.argument_count,
            "values": self.numbers.values,
            "transients": self.transients,
            "constants": [constant.hex() for constant in self.constants],
            "steps": self.steps,
        }
        return forward_copies(plan)

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
            # Nobody here need signal what is the caller's, or none.
            made_here = (value for value in waits if (op := producer(value)) is not None and op.name != "util.null")
            if not all(fence in signalled for fence in made_here):
                raise Unreadable("its queue waits for a fence that nothing above has signalled")
            signalled.add(signals)

    def _execute(self, op: ir.Operation) -> None:
        """Adds the steps of command buffers; the queue's fences order them after those before."""
        for commands in (value for value in op.operands if str(value.type) == "!hal.command_buffer"):
            made_by(commands, "hal.command_buffer.create")
            self._add_steps([op for op in self.ops if op.name in _COMMANDS and op.operands[0] == commands])

    def _add_steps(self, commands: list[ir.Operation]) -> None:
        self.steps += [_COMMANDS[command.name](self, command) for command in commands]
        self.steps.append({"op": "barrier"})

    def _range(self, buffer: ir.Value, offset: ir.Value, length: ir.Value) -> list[int | str]:
        """A range that a command touches, of a buffer or of a constant."""
        if buffer in self.buffers:
            return [self.buffers[buffer], self.numbers.read(offset), self.numbers.read(length)]
        return self._constant(buffer, number(offset), number(length))

    def _constant(self, value: ir.Value, start: int, size: int) -> list[int | str]:
        """The bytes that are read of a constant, as a buffer of their own: many functions may share what it lies in."""
        data = contents(self.module, value)
        if start + size > len(data):
            raise Unreadable(f"bytes {start} to {start + size} lie outside of a constant of {len(data)}")
        index = self.constants.setdefault(data[start : start + size], len(self.constants))
        return [self.argument_count + len(self.transients) + index, 0, size]

    def _dispatch(self, op: ir.Operation) -> dict[str, Any]:
        # Command buffer, executable, function, workgroups (3), constants; buffers, offsets and lengths of the bindings.
        parts = segments(op)
        if [len(part) for part in parts[:6]] != [1] * 6 or len(parts) != 10:
            raise Unreadable("a dispatch has another form than expected")
        (function,), constants, buffers, offsets, lengths = parts[2], *parts[6:]
        looked_up = made_by(function, "hal.executable.lookup.function")
        index, _, entry = ir.SymbolRefAttr(looked_up.attributes["entry_point"]).value
        self.executables.add(index)
        if index not in self.codes:
            raise Unreadable(f"its code is not one binary of a known format: {', '.join(FORMATS)}")
        code = self.codes[index]
        if code.is_for_gpu:
            entry = name_in_code(entry)
            if code.parameters.get(entry) != (len(buffers), len(constants)):
                raise Unreadable(f"its code has no function '{entry}' of {len(buffers)} bindings")
        return {
            "op": "dispatch",
            "entry": entry,
            **code.launches.get(entry, {}),
            "workgroups": [self.numbers.read(part[0]) for part in parts[3:6]],
            "constants": [self.numbers.word(value) for value in constants],
            "bindings": [self._range(*binding) for binding in zip(buffers, offsets, lengths, strict=True)],
        }

    def _copy(self, op: ir.Operation) -> dict[str, Any]:
        *_, source, source_offset, target, target_offset, length = op.operands
        return {
            "op": "copy",
            "source": self._range(source, source_offset, length),
            "target": self._range(target, target_offset, length),
        }

    def _fill(self, op: ir.Operation) -> dict[str, Any]:
        *_, target, offset, length, pattern = op.operands
        width = ir.IntegerType(pattern.type).width
        bits = number(pattern) & ((1 << width) - 1)
        return {"op": "fill", "target": self._range(target, offset, length), "pattern": bits, "bits": width}


_COMMANDS: dict[str, Callable[[_Reader, ir.Operation], dict[str, Any]]] = {
    "hal.command_buffer.dispatch": _Reader._dispatch,
    "hal.command_buffer.copy_buffer": _Reader._copy,
    "hal.command_buffer.fill_buffer": _Reader._fill,
    "hal.command_buffer.execution_barrier": lambda *_: {"op": "barrier"},
    _COPY: _Reader._copy,
    _FILL: _Reader._fill,
}
