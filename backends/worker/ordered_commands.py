"""Has commands that touch the same memory wait for one another, in a text of IREE's commands on memory.

Where a tensor is updated part by part, IREE asks of each update whether it touches what the one before it wrote, and
not what those before that did: what copies the first of three parts may run at once with the kernel that computes it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from iree.compiler import ir

from dovetail.backends.worker.host_ops import ops_in, segments
from dovetail.backends.worker.walk import producer, reading, walk, written_number

_EXECUTE, _AT_ONCE, _END = "stream.cmd.execute", "stream.cmd.concurrent", "stream.yield"
_DISPATCH, _COPY, _FILL = "stream.cmd.dispatch", "stream.cmd.copy", "stream.cmd.fill"
_MEMORY = ("stream.resource.alloca", "stream.tensor.import", "util.global.load")
_WRITES = 2
"""A bit of how a kernel is said to use memory."""


@dataclass(frozen=True)
class _Touch:
    """A range of bytes that a command reads or writes: of `memory`, or of any where that is None."""

    memory: ir.Value | None
    start: int | None = None
    size: int | None = None
    is_written: bool = True

    def meets(self, other: "_Touch") -> bool:
        """Whether one may write what the other touches."""
        if not (self.is_written or other.is_written):
            return False
        if self.memory is None or other.memory is None:
            return True
        return self.memory == other.memory and _overlap(self, other)


def _overlap(one: _Touch, other: _Touch) -> bool:
    if one.start is None or one.size is None or other.start is None or other.size is None:
        return True
    return one.start < other.start + other.size and other.start < one.start + one.size


def order_commands(text: bytes) -> bytes:
    """`text` in which what runs at once writes nothing that others of these touch; in the order of the text."""
    with reading(), ir.Location.unknown():
        module = ir.Module.parse(text)
        functions = [op.operation for op in module.body.operations if op.operation.name == "util.func"]
        ran = [op for function in functions for op in walk(function) if op.name == _EXECUTE]
        split = [_set_apart(op, execute) for execute in ran for op in list(walk(execute)) if op.name == _AT_ONCE]
        return str(module).encode() if any(split) else text


def _set_apart(at_once: ir.Operation, execute: ir.Operation) -> bool:
    """Splits `at_once` before each command that meets one of those since the last split; whether there is any."""
    _, *others = _groups(at_once, execute)
    behind = at_once
    for group in others:
        made = ir.Operation.create(_AT_ONCE, regions=1, ip=ir.InsertionPoint.after(behind))
        end = ir.Operation.create(_END, ip=ir.InsertionPoint(made.regions[0].blocks.append()))
        for command in group:
            command.move_before(end)
        behind = made
    return bool(others)


def _groups(at_once: ir.Operation, execute: ir.Operation) -> list[list[ir.Operation]]:
    groups, touched = [list[ir.Operation]()], list[_Touch]()
    for command in ops_in(at_once)[:-1]:
        own = list(_touches(command, execute))
        if any(one.meets(other) for one in own for other in touched):
            groups.append([])
            touched = []
        groups[-1].append(command)
        touched += own
    return groups


def _touches(command: ir.Operation, execute: ir.Operation) -> Iterator[_Touch]:
    """What a command touches; what is not known may touch all."""
    if len(command.regions):
        for inner in ops_in(command)[:-1]:
            yield from _touches(inner, execute)
    elif command.name == _DISPATCH:
        _, _, memories, _, starts, sizes = segments(command)
        uses = [ir.IntegerAttr(each).value for each in command.attributes["resource_accesses"]]
        for memory, start, size, use in zip(memories, starts, sizes, uses, strict=True):
            yield _touch(memory, start, size, bool(use & _WRITES), execute)
    elif command.name == _COPY:
        source, _, source_start, target, _, target_start, size = command.operands
        yield _touch(source, source_start, size, False, execute)
        yield _touch(target, target_start, size, True, execute)
    elif command.name == _FILL:
        target, _, start, size, _ = command.operands
        yield _touch(target, start, size, True, execute)
    else:
        yield _Touch(None)


def _touch(value: ir.Value, start: ir.Value, size: ir.Value, is_written: bool, execute: ir.Operation) -> _Touch:
    return _Touch(_memory(value, execute.operands), written_number(start), written_number(size), is_written)


def _memory(value: ir.Value, captured: Sequence[ir.Value]) -> ir.Value | None:
    """What `value`, an argument of what runs with memory `captured`, is: an argument of the function, or a value."""
    outside = captured[ir.BlockArgument(value).arg_number]
    made = producer(outside)
    if made is None or made.name not in _MEMORY:
        return None
    return made.operands[0] if made.name == "stream.tensor.import" else outside
