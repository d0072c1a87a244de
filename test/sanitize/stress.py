"""Stress test of `runtime/native/`: random plans against a model, under whatever sanitizers it was built with.

`make sanitize` runs it: `python test/sanitize/stress.py EXTENSION LIBRARY [--plans N]`. Every buffer ends at a page
that can't be touched. Plans run on one thread and on teams, in several Python threads, in forked children and inside of
teams of somebody else's; plans and calls that do not fit must be refused. Ends with status 1 at the first difference.
"""

import argparse
import ctypes
import functools
import importlib.util
import mmap
import os
import random
import threading
from pathlib import Path
from typing import Any

import torch

DISPATCH, FILL, COPY = range(3)
(ADD, SUBTRACT, MULTIPLY, DIVIDE, DIVIDE_UP, LARGER, SMALLER, SHIFT, SELECT, EQUAL, UNEQUAL, LESS, AT_MOST, GREATER,
 AT_LEAST, CHECK_EQUAL, CHECK_RANGE) = range(17)  # fmt: skip
PAGE, ALIGNMENT = mmap.PAGESIZE, 64
LARGEST = 120_000
"""Elements of an argument: teams start at 128 KiB moved."""

NOTHING = 0
"""What may be done with a guard page, in mprotect's terms."""

libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class Guarded:
    """Memory for `count` int32 elements, aligned to 64 bytes, as close as that allows to a page that faults."""

    def __init__(self, count: int):
        used = -(-count * 4 // ALIGNMENT) * ALIGNMENT
        pages = max(-(-used // PAGE), 1)
        self.memory = mmap.mmap(-1, (pages + 2) * PAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        for guard in (start, start + (pages + 1) * PAGE):
            if libc.mprotect(guard, PAGE, NOTHING):
                raise OSError(ctypes.get_errno(), "mprotect failed")
        offset = (pages + 1) * PAGE - used
        self.tensor = torch.frombuffer(self.memory, dtype=torch.int32, count=count, offset=offset)


class Numbers:
    """Has some numbers of a plan follow from the sizes of its arguments."""

    def __init__(self, draw: random.Random, counts: list[int]):
        self.draw = draw
        self.counts = counts
        self.registers = [(0, argument, 0) for argument in range(len(counts))]
        self.instructions: list[tuple[int, int, int, int, int]] = []

    def opened(self, number: int) -> int | tuple[int]:
        """`number`, or a register that holds it for arguments of these sizes."""
        if self.draw.random() < 0.5:
            return number
        argument = self.draw.randrange(len(self.counts))
        size, factor, other = self.counts[argument], self.draw.randint(1, 9), self.draw.randint(0, number)
        constant = self._constant
        match self.draw.choice([ADD, SUBTRACT, MULTIPLY, DIVIDE, DIVIDE_UP, LARGER, SMALLER, SHIFT, SELECT]):
            case operation if operation == ADD:
                operands = (argument, constant(number - size), argument)
            case operation if operation == SUBTRACT:
                operands = (argument, constant(size - number), argument)
            case operation if operation == MULTIPLY and number % factor == 0:
                operands = (constant(number // factor), constant(factor), argument)
            case operation if operation == DIVIDE:
                operands = (constant(number * factor + factor - 1), constant(factor), argument)
            case operation if operation == DIVIDE_UP:
                operands = (constant((number - 1) * factor + 1), constant(factor), argument)
            case operation if operation == LARGER:
                operands = (constant(number), constant(other), argument)
            case operation if operation == SHIFT:
                operands = (constant((number << factor) + 1), constant(factor), argument)
            case operation if operation == SELECT:
                is_more = self._add(GREATER, argument, constant(size - 1), argument)
                operands = (is_more, constant(number), constant(-1))
            case _:
                operation, operands = SMALLER, (constant(number), constant(number + other), argument)
        return (self._add(operation, *operands),)

    def check(self) -> None:
        argument = self.draw.randrange(len(self.counts))
        size = self.counts[argument]
        self.instructions.append((CHECK_EQUAL, 0, argument, self._constant(size), 0))
        self.instructions.append((CHECK_RANGE, 0, argument, self._constant(size - 1), self._constant(size + 1)))

    def _constant(self, number: int) -> int:
        self.registers.append((number, -1, -1))
        return len(self.registers) - 1

    def _add(self, operation: int, *operands: int) -> int:
        target = self._constant(0)
        self.instructions.append((operation, target, *operands))  # type: ignore[arg-type]  # there are three
        return target


class RandomPlan:
    """A plan of random steps on random buffers, and what it must compute."""

    def __init__(self, draw: random.Random, launch: Any, library: Any):
        self.is_open = draw.random() < 0.5
        self.counts = [draw.randint(16, draw.choice([64, 5000, LARGEST])) for _ in range(draw.randint(1, 4))]
        self.transient = draw.choice([0, 64, 4096, 65536 * 3])
        self.constants = draw.randbytes(draw.choice([0, 64, 4096, 65536 * 3]))
        self.sizes = [count * 4 for count in self.counts] + [self.transient, len(self.constants)]
        self.steps: list[tuple] = []
        touched: set[int] = set()
        for _ in range(draw.randint(1, 12)):
            step, buffers = self._step(draw)
            waits = bool(touched & buffers) or draw.random() < 0.2
            touched = buffers if waits else touched | buffers
            self.steps.append((step[0], waits, *step[1:]))
        self.run = self._made(draw, launch, library)

    def _made(self, draw: random.Random, launch: Any, library: Any) -> Any:
        """The plan; where it is open, with sizes that are too, and numbers that follow from them."""
        if not self.is_open:
            arguments = tuple(((count,), 0, 32, False, False) for count in self.counts)
            memory = (self.transient,), self.constants
            return launch.Plan("stress", library, arguments, (), (), *memory, tuple(self.steps), refuse)
        numbers = Numbers(draw, self.counts)
        transients = (numbers.opened(self.transient),)
        steps = []
        for kind, waits, entry, counts, constants, ranges, pattern, width in self.steps:
            opened = tuple((buffer, *map(numbers.opened, rest)) for buffer, *rest in ranges)
            grid = tuple(map(numbers.opened, counts)), tuple(map(numbers.opened, constants))
            steps.append((kind, waits, entry, *grid, opened, pattern, width))
        if draw.random() < 0.5:
            numbers.check()
        arguments = tuple(((-1,), 0, 32, False, False) for _ in self.counts)
        computed = tuple(numbers.registers), tuple(numbers.instructions)
        return launch.Plan("stress", library, arguments, *computed, transients, self.constants, tuple(steps), refuse)

    def _range(self, draw: random.Random, length: int | None = None) -> tuple[int, int, int]:
        """A target; with a `length`, a source, which may be a constant."""
        sizes = self.sizes[:-1] if length is None else self.sizes
        fitting = [position for position, size in enumerate(sizes) if size >= (length or 4)]
        buffer = draw.choice(fitting)
        if length is None:
            length = draw.randint(1, self.sizes[buffer] // 4) * 4
        offset = draw.randint(0, (self.sizes[buffer] - length) // ALIGNMENT) * ALIGNMENT
        return buffer, offset, length

    def _step(self, draw: random.Random) -> tuple[tuple, set[int]]:
        target = self._range(draw)
        kind = draw.choice([DISPATCH, DISPATCH, FILL, COPY])
        if kind == FILL:
            width = draw.choice([1, 2, 4])
            return (FILL, "", (), (), (target,), draw.randrange(1 << 8 * width), width), {target[0]}
        source = self._range(draw, target[2])
        if source[0] == target[0] and source != target:
            source = target
        if kind == COPY and source != target:
            return (COPY, "", (), (), (source, target), 0, 0), {source[0], target[0]}
        counts = tuple(draw.choice([1, 1, 2, 7, 40]) for _ in range(3))
        constants = (draw.randrange(1 << 32),)
        return (DISPATCH, "mix", counts, constants, (source, target), 0, 0), {source[0], target[0]}

    def expected(self, given: list[torch.Tensor]) -> list[torch.Tensor]:
        """What the arguments hold afterwards; a transient that is read before it is written makes no difference."""
        buffers = [each.clone().view(torch.uint8) for each in given] + [torch.zeros(self.transient, dtype=torch.uint8)]
        buffers.append(torch.tensor(list(self.constants), dtype=torch.uint8))
        for kind, _, _, _, constants, ranges, pattern, width in self.steps:
            views = [buffers[position][offset : offset + length] for position, offset, length in ranges]
            if kind == FILL:
                piece = torch.tensor(list(pattern.to_bytes(width, "little")), dtype=torch.uint8)
                views[0].copy_(piece.repeat(len(views[0]) // width))
            elif kind == COPY:
                views[1].copy_(views[0])
            else:
                words = views[0].clone().view(torch.int32).long() * 3 + constants[0]
                views[1].copy_(((words + (1 << 31)) % (1 << 32) - (1 << 31)).int().view(torch.uint8))
        return [each.view(torch.int32) for each in buffers[:-2]]

    def reads_transient_first(self) -> bool:
        """Whether its results depend on what a transient held before."""
        position, written = len(self.counts), torch.zeros(self.transient, dtype=torch.bool)
        for kind, _, _, _, _, ranges, _, _ in self.steps:
            *sources, target = ranges
            for buffer, offset, length in sources if kind != FILL else ():
                if buffer == position and not written[offset : offset + length].all():
                    return True
            if target[0] == position:
                written[target[1] : target[1] + target[2]] = True
        return False

    def check(self, draw: random.Random) -> None:
        arguments = [Guarded(count).tensor for count in self.counts]
        for argument in arguments:
            argument.copy_(torch.randint(-(1 << 31), (1 << 31) - 1, argument.shape, dtype=torch.int32))
        expected = self.expected(arguments)
        self.run(*arguments)
        for position, (actual, wanted) in enumerate(zip(arguments, expected, strict=True)):
            if not torch.equal(actual, wanted):
                raise SystemExit(f"argument {position} differs after {self.steps}")
        if self.is_open:
            self._check_other_sizes(draw)

    def _check_other_sizes(self, draw: random.Random) -> None:
        """Arguments that are smaller or larger: whatever is computed, nothing lies outside of them."""
        arguments = [Guarded(max(count + draw.randint(-16, 16), 0)).tensor for count in self.counts]
        before = [argument.clone() for argument in arguments]
        try:
            self.run(*arguments)
        except ValueError:
            if not all(map(torch.equal, arguments, before)):
                raise SystemExit(f"a call that was refused wrote: {self.steps}") from None


def refuse(index: int, given: object) -> None:
    raise ValueError(f"argument {index} does not fit")


def must_refuse(kind: type[Exception] | tuple, call: Any, *arguments: Any) -> None:
    try:
        call(*arguments)
    except kind:
        return
    raise SystemExit(f"not refused: {arguments}")


def check_refusals(launch: Any, library: Any, draw: random.Random) -> None:
    """Plans that reach beyond their buffers, or fit no entry, and calls with other tensors."""
    argument = (((64,), 0, 32, False, False),)
    none: tuple = ((), ())
    far = [
        (0, 0, 260),
        (0, 256, 4),
        (0, -4, 4),
        (0, 0, -4),
        (1, 0, 4),
        (-1, 0, 4),
        (2, 0, 4),
        (3, 0, 4),
        (7, 0, 4),
        (0, 1 << 62, 1 << 62),
    ]
    for reach in far:
        steps = ((FILL, False, "", (), (), (reach,), 0, 4),)
        must_refuse(ValueError, launch.Plan, "stress", library, argument, *none, (), b"", steps, refuse)
    good = (0, 0, 256)
    for step in (
        (DISPATCH, False, "none", (1, 1, 1), (1,), (good, good), 0, 0),
        (DISPATCH, False, "mix", (1, 1, 1), (), (good, good), 0, 0),
        (DISPATCH, False, "mix", (1, 1, 1), (1,), (good,), 0, 0),
        (DISPATCH, False, "mix", (1, 1, 1 << 16), (1,), (good, good), 0, 0),
        (DISPATCH, False, "mix", (1, 1, 1), (1,), (good,) * 65, 0, 0),
        (DISPATCH, False, "mix", (1, 1, 1), (1,) * 65, (good, good), 0, 0),
        (FILL, False, "", (), (), (good,), 0, 3),
        (FILL, False, "", (), (), ((0, 0, 6),), 0, 4),
        (FILL, False, "", (), (), (), 0, 4),
        (COPY, False, "", (), (), (good, (0, 0, 128)), 0, 0),
        (COPY, False, "", (), (), ((0, 0, 192), (0, 64, 192)), 0, 0),
        (COPY, False, "", (), (), (good, (2, 0, 256)), 0, 0),
        (FILL, False, "", (), (), ((2, 0, 256),), 0, 4),
        (COPY, False, "", (), (), ((2, 64, 256), good), 0, 0),
        (9, False, "", (), (), (good, good), 0, 0),
    ):
        must_refuse(ValueError, launch.Plan, "stress", library, argument, *none, (0,), bytes(256), (step,), refuse)
    for shape in ((-2,), (1 << 62, 4), (1 << 61,)):
        wrong_argument = ((shape, 0, 32, False, False),)
        must_refuse(ValueError, launch.Plan, "stress", library, wrong_argument, *none, (), b"", (), refuse)
    for transients in ((-1,), (1 << 62, 1 << 62), ((1 << 63) - 1,)):
        must_refuse(ValueError, launch.Plan, "stress", library, argument, *none, transients, b"", (), refuse)
    fill = launch.Plan("stress", library, argument, *none, (), b"", ((FILL, False, "", (), (), (good,), 1, 4),), refuse)
    fine = torch.zeros(64, dtype=torch.int32)
    wrong = [torch.zeros(63, dtype=torch.int32), torch.zeros(65, dtype=torch.int32)[1:], fine.float(), fine.view(8, 8)]
    for given in (*wrong, torch.zeros(128, dtype=torch.int32)[::2], fine.to("meta"), None, 3):
        must_refuse(ValueError, fill, given)
    copying = launch.Plan("stress", library, argument, *none, (), b"", (), lambda index, given: given.contiguous())
    copying(torch.zeros(128, dtype=torch.int32)[::2])
    must_refuse(ValueError, copying, fine.float())
    must_refuse(ValueError, copying, fine.to("meta"))
    must_refuse(AttributeError, copying, None)
    must_refuse(TypeError, fill)
    must_refuse(TypeError, fill, fine, fine)
    fails = (DISPATCH, False, "fail", (draw.choice([2, 5]), 1, 1), (), (good,), 0, 0)
    must_refuse(RuntimeError, launch.Plan("stress", library, argument, *none, (), b"", (fails,), refuse), fine)
    without_code = launch.Library(b"")
    must_refuse(ValueError, launch.Plan, "stress", without_code, argument, *none, (), b"", (fails,), refuse)


def check_open_refusals(launch: Any, library: Any) -> None:
    """Numbers that no size can be, or that nothing computes, and what computes in no sound way."""
    size, low, most = (0, 0, 0), (0, -1, -1), ((1 << 63) - 1, -1, -1)
    least, number = (-(1 << 63), -1, -1), (0, 1, -1)
    arguments = (((-1,), 0, 32, False, False), ((), 0, 0, True, False))
    registers = (size, low, most, least, (-1, -1, -1), number, (0, -1, -1))

    def made(*instructions: tuple, steps: tuple = (), registers: tuple = registers, transients: tuple = ()) -> Any:
        return launch.Plan("stress", library, arguments, registers, instructions, transients, b"", steps, refuse)

    fine = torch.zeros(64, dtype=torch.int32)
    for instruction in (
        (ADD, 6, 2, 0, 0),
        (SUBTRACT, 6, 3, 0, 0),
        (MULTIPLY, 6, 2, 0, 0),
        (DIVIDE, 6, 0, 1, 0),
        (DIVIDE, 6, 3, 4, 0),
        (DIVIDE_UP, 6, 0, 1, 0),
        (DIVIDE_UP, 6, 3, 4, 0),
        (SHIFT, 6, 4, 1, 0),
        (SHIFT, 6, 0, 0, 0),
        (SHIFT, 6, 0, 4, 0),
        (CHECK_EQUAL, 0, 0, 1, 0),
        (CHECK_RANGE, 0, 0, 3, 1),
        (CHECK_EQUAL, 0, 0, 5, 0),
    ):
        must_refuse(ValueError, made(instruction), fine, 3)
    fill = ((FILL, False, "", (), (), ((0, 0, (6,)),), 1, 4),)
    made((MULTIPLY, 6, 5, 5, 0), steps=fill)(fine, 8)
    if fine.tolist() != [1] * 16 + [0] * 48:
        raise SystemExit("a length that follows from a number is another one")
    for factor in (17, -17, 1 << 31, -(1 << 63)):
        must_refuse(ValueError, made((MULTIPLY, 6, 5, 5, 0), steps=fill), fine, factor)
    for given in (1 << 63, None, 2.0, True, "1"):
        must_refuse((ValueError, OverflowError), made(), fine, given)
    for instruction in ((CHECK_RANGE + 1, 6, 0, 0, 0), (-1, 6, 0, 0, 0), (ADD, 7, 0, 0, 0), (ADD, 6, -1, 0, 0)):
        must_refuse(ValueError, made, instruction)
    for wrong in ((0, 2, 0), (0, 0, 1), (0, 0, -2), (0, 1, 0), size):
        must_refuse(ValueError, lambda register: made(registers=(*registers, register)), wrong)
    for reach in ((0, (7,), 4), (0, 0, (-1,))):
        must_refuse(ValueError, lambda range_: made(steps=((FILL, False, "", (), (), (range_,), 0, 4),)), reach)
    wide = (DISPATCH, False, "mix", ((2,), 1, 1), ((2,),), ((0, 0, 64), (0, 0, 64)), 0, 0)
    must_refuse(ValueError, made(steps=(wide,)), fine, 1)
    must_refuse(ValueError, made(transients=((2,),)), fine, 1)
    must_refuse(ValueError, made(transients=((4,),)), fine, 1)


def check_places(launch: Any, draw: random.Random) -> None:
    """Many tensors at once, the last bytes of their memory, and what is no tensor."""
    given = [Guarded(draw.randint(1, 5000)).tensor for _ in range(draw.randint(0, 40))]
    starts = memoryview(launch.addresses(given)).cast("Q").tolist()
    if starts != [each.data_ptr() for each in given] or not launch.are_ready(tuple(given)):
        raise SystemExit("tensors lie elsewhere than told")
    for wrong in (None, 3, "tensor", torch.ones(2).to_sparse(), given):
        if launch.addresses([*given, wrong]) is not None or launch.are_ready([*given, wrong]):
            raise SystemExit("what is no tensor is taken for one")
    must_refuse(TypeError, launch.addresses, 3)
    must_refuse(TypeError, launch.are_ready, None)


def check_sequences(launch: Any, library: Any, draw: random.Random) -> None:
    """Plans on tensors of one list: all run, in order, or nothing does; of no two sequences is anything shared."""
    argument, seen = ((64,), 0, 32, False, False), []

    def plan(*arguments: tuple, ranges: tuple) -> Any:
        step = (DISPATCH, False, "mix", (1, 1, 1), (5,), ranges, 0, 0)
        return launch.Plan("stress", library, arguments, (), (), (), b"", (step,), refuse)

    one = plan(argument, argument, ranges=((0, 0, 256), (1, 0, 256)))
    run = launch.Launches(((one, (0, 1)), (one, (1, 2))), 3, seen.append)
    given = [Guarded(64).tensor.fill_(draw.randrange(9)) for _ in range(3)]
    first = given[0].clone()
    if not run(given) or not torch.equal(given[1], first * 3 + 5) or not torch.equal(given[2], given[1] * 3 + 5):
        raise SystemExit("a sequence computes something else")
    if memoryview(seen.pop()).cast("Q").tolist() != [each.data_ptr() for each in given]:
        raise SystemExit("a sequence checks other addresses")
    before = [each.clone() for each in given]
    wrong = [torch.zeros(63, dtype=torch.int32), torch.zeros(65, dtype=torch.int32)[1:], given[0].float(), None, 3]
    for other in (*wrong, torch.zeros(128, dtype=torch.int32)[::2], given[0].to("meta"), given[0].view(8, 8)):
        if run([given[0], given[1], other]) or seen or not all(map(torch.equal, given, before)):
            raise SystemExit("a sequence runs on what does not fit")
    must_refuse(ZeroDivisionError, launch.Launches(((one, (0, 1)),), 2, lambda _: 1 // 0), given[:2])
    if not all(map(torch.equal, given, before)):
        raise SystemExit("a sequence runs on what was refused")
    must_refuse(TypeError, run, given[:2])
    must_refuse(TypeError, run, tuple(given))
    must_refuse(TypeError, run)
    other = plan(((128,), 0, 32, False, False), ranges=((0, 0, 256), (0, 256, 256)))
    number = launch.Plan("stress", library, (((), 0, 0, True, False),), (), (), (), b"", (), refuse)
    opened = launch.Plan("stress", library, (((-1,), 0, 32, False, False),), (), (), (), b"", (), refuse)
    for calls, count in (
        (((one, (0,)),), 1),
        (((one, (0, 2)),), 2),
        (((one, (0, -1)),), 2),
        (((one, (0, 1)),), 3),
        (((one, (0, 1)), (other, (1,))), 2),
        (((number, (0,)),), 1),
        (((opened, (0,)),), 1),
        ((), -1),
    ):
        must_refuse(ValueError, launch.Launches, calls, count, seen.append)
    must_refuse(TypeError, launch.Launches, ((one, [0, 1]),), 2, seen.append)
    must_refuse(TypeError, launch.Launches, (one,), 2, seen.append)


class Attribute(ctypes.Structure):
    """One of a launch, as the driver takes it."""

    _fields_ = (("number", ctypes.c_int), ("padding", ctypes.c_int), ("value", ctypes.c_int * 16))


class Configuration(ctypes.Structure):
    """Of a launch, as the driver takes it."""

    _fields_ = (
        ("sizes", ctypes.c_uint * 7),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(Attribute)),
        ("attribute_count", ctypes.c_uint),
    )


OVERLAPS = 6


class Driver:
    """A GPU's driver, in the host's memory: notes its calls; `statuses` are those of the next steps."""

    def __init__(self) -> None:
        self.calls: list[tuple] = []
        self.statuses: list[int] = []
        self.device, self.context = 0, 70
        pointer, count, word = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint
        functions = {
            self.launch: (ctypes.POINTER(Configuration), *[pointer] * 3),
            functools.partial(self.fill, 1): (pointer, ctypes.c_ubyte, count, pointer),
            functools.partial(self.fill, 2): (pointer, ctypes.c_ushort, count, pointer),
            functools.partial(self.fill, 4): (pointer, word, count, pointer),
            self.fill_columns: (pointer, count, word, count, count, pointer),
            self.copy: (pointer, pointer, count, pointer),
            self.current_device: (pointer,),
            self.current_context: (pointer,),
            self.enter: (pointer,),
        }
        self.made = [ctypes.CFUNCTYPE(ctypes.c_int, *types)(function) for function, types in functions.items()]
        self.addresses = tuple(ctypes.cast(each, pointer).value for each in self.made)

    def status(self) -> int:
        return self.statuses.pop() if self.statuses else 0

    def launch(self, configuration: Any, kernel: int, parameters: int, _: int) -> int:
        told = configuration.contents
        attributes = [(each.number, each.value[0]) for each in told.attributes[: told.attribute_count]]
        if attributes != ([(OVERLAPS, 1)] if kernel == 7 else []):
            raise SystemExit("kernels overlap otherwise")
        where = (ctypes.c_void_p * 3).from_address(parameters)
        table = (ctypes.c_uint64 * 5).from_address(where[0]) if kernel == 5 else []
        values = [ctypes.c_uint64.from_address(at).value for at in where[:2]] if kernel != 5 else [*table]
        word = ctypes.c_uint32.from_address(where[1 if kernel == 5 else 2]).value
        self.calls.append((kernel, list(told.sizes), told.stream, [*values, word]))
        return self.status()

    def fill(self, width: int, start: int, pattern: int, count: int, stream: int) -> int:
        ctypes.memmove(start, pattern.to_bytes(width, "little") * count, width * count)
        self.calls.append((width, stream))
        return self.status()

    def fill_columns(self, start: int, pitch: int, pattern: int, width: int, height: int, stream: int) -> int:
        for row in range(height):
            ctypes.memmove(start + pitch * row, pattern.to_bytes(4, "little") * width, 4 * width)
        self.calls.append((8, stream))
        return self.status()

    def copy(self, target: int, source: int, count: int, stream: int) -> int:
        ctypes.memmove(target, source, count)
        self.calls.append(("copy", stream))
        return self.status()

    def current_device(self, where: int) -> int:
        ctypes.c_int.from_address(where).value = self.device
        return 0 if self.context else 201

    def current_context(self, where: int) -> int:
        ctypes.c_void_p.from_address(where).value = self.context
        return 0

    def enter(self, context: int) -> int:
        self.calls.append(("enter", context))
        self.context = context
        return self.status()


STREAM = 1 << 41


class Asked:
    """What steps ask of Python."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []
        self.transients: list[torch.Tensor] = []
        self.replacements: list[Any] = []

    def functions(self, **others: Any) -> tuple:
        own = {
            "stream": lambda device: STREAM,
            "allocate": lambda: self.transients.append(Guarded(256).tensor) or self.transients[-1],
            "misfit": lambda index, given: self.replacements.pop() if self.replacements else None,
            "check": self.seen.append,
            "refused": self.refused,
        }
        return tuple((own | others).values())

    def refused(self, number: int, status: int) -> None:
        raise KeyError(number, status)


def kernel(handle: int, *bindings: tuple[int, int, int], table: int = 0) -> tuple:
    return DISPATCH, handle, (5, 2, 1), (64, 1, 3), 96, (0xFFFFFFFF,), bindings, table, handle == 7


EXPECTED = ((64,), 0, 32, False, False)
KERNELS = kernel(1 << 40, (2, 0, 256), (0, 16, 240)), kernel(7, (1, 4, 8), (1, 0, 256))


def steps_of(launch: Any, gpu: Driver, asked: tuple, steps: tuple = KERNELS, **others: Any) -> Any:
    own = {
        "name": "steps",
        "driver": gpu.addresses,
        "context": 70,
        "place": (1, 0, 16),
        "tensors": (EXPECTED,) * 3,
        "transient_bytes": 1024,
        "constants": (),
        "steps": steps,
        "asked": asked,
    }
    return launch.Steps(*(own | others).values())


def check_steps(launch: Any, draw: random.Random) -> None:
    """Steps of a GPU on several tensors, by a driver that notes its calls: all run, or nothing does."""
    driver, asked = Driver(), Asked()
    given = [Guarded(64).tensor for _ in range(3)]
    starts = [each.data_ptr() for each in given]
    run = steps_of(launch, driver, asked.functions())
    model = [
        (1 << 40, [5, 2, 1, 64, 1, 3, 96], STREAM, [starts[2], starts[0] + 16, 0xFFFFFFFF]),
        (7, [5, 2, 1, 64, 1, 3, 96], STREAM, [starts[1] + 4, starts[1], 0xFFFFFFFF]),
    ]
    if not run(*given) or driver.calls != model or memoryview(asked.seen.pop()).cast("Q").tolist() != starts:
        raise SystemExit("kernels are launched otherwise")
    sets = kernel(5, (2, 0, 8), (1, 4, 8), (0, 8, 8), table=5)
    steps_of(launch, driver, asked.functions(), (sets,))(*given)
    if driver.calls.pop()[-1] != [starts[2], starts[1] + 4, starts[0] + 8, 0, 0, 0xFFFFFFFF]:
        raise SystemExit("sets of bindings are given otherwise")
    driver.statuses[:] = [2, 0]
    must_refuse(KeyError, run, *given)
    driver.calls.clear(), asked.seen.clear()
    wrong = [torch.zeros(63, dtype=torch.int32), torch.zeros(65, dtype=torch.int32)[1:], given[0].float(), None, 3]
    for other in (*wrong, torch.zeros(128, dtype=torch.int32)[::2], given[0].to("meta"), given[0].view(8, 8)):
        if run(*given[:2], other) or asked.seen or driver.calls:
            raise SystemExit("steps run on what does not fit")
        if other is not None:
            asked.replacements[:] = [other]
            must_refuse((ValueError, TypeError), run, *given[:2], other)
    asked.replacements[:] = [Guarded(64).tensor]
    if not run(given[0], None, given[2]) or driver.calls.pop()[-1][0] in starts:
        raise SystemExit("steps take something else in place of what does not fit")
    driver.calls.clear(), asked.seen.clear(), asked.transients.clear()
    if steps_of(launch, driver, asked.functions(), place=(2, 0, 16))(*given) or driver.calls:
        raise SystemExit("a GPU's steps run on the host's memory")
    for raising in ("stream", "allocate", "misfit", "check"):
        other = steps_of(launch, driver, asked.functions(**{raising: lambda *_: 1 // 0}))
        must_refuse(ZeroDivisionError, other, *given[:2], None if raising == "misfit" else given[2])
    must_refuse(TypeError, steps_of(launch, driver, asked.functions(allocate=lambda: 3)), *given)
    must_refuse(TypeError, steps_of(launch, driver, asked.functions(stream=lambda _: "none")), *given)
    must_refuse(TypeError, run, *given[:2])
    if driver.calls:
        raise SystemExit("steps run on what was refused")
    check_fills_and_copies(launch, draw)
    check_other_devices(launch)
    check_no_steps(launch)


def check_fills_and_copies(launch: Any, draw: random.Random) -> None:
    """Of tensors, transients and constants, the last bytes among them."""
    driver, asked, constants = Driver(), Asked(), Guarded(16).tensor.fill_(draw.randrange(1 << 31))
    width = draw.choice([1, 2, 4, 8])
    pattern = draw.randrange(1 << 8 * width)
    steps = (
        (FILL, ((3, 0, 1024),), pattern, width),
        (COPY, ((4, 16, 48), (2, 208, 48))),
        (COPY, ((3, 768, 256), (0, 0, 256))),
        (COPY, ((3, 1016, 8), (1, 248, 8))),
    )
    memory = (constants.data_ptr(), 64), (0, 0)
    run = steps_of(launch, driver, asked.functions(check=None), steps, constants=memory)
    given = [Guarded(64).tensor.zero_() for _ in range(3)]
    if not run(*given) or any(stream != STREAM for _, stream in driver.calls):
        raise SystemExit("fills and copies do not run")
    filled = (
        torch.tensor(list(pattern.to_bytes(width, "little")), dtype=torch.uint8).repeat(256 // width).view(torch.int32)
    )
    ends = torch.equal(given[1][62:], filled[:2]) and torch.equal(given[2][52:], constants[4:])
    if not torch.equal(given[0], filled) or not ends or given[1][:62].any() or given[2][:52].any():
        raise SystemExit("fills and copies reach somewhere else")
    driver.statuses[:] = [7] if width == 8 else [7, 0]
    must_refuse(KeyError, run, *given)


def check_other_devices(launch: Any) -> None:
    """A thread on another device, or on none."""
    driver, asked = Driver(), Asked()
    run, given = steps_of(launch, driver, asked.functions()), [Guarded(64).tensor for _ in range(3)]
    driver.device, driver.context = 1, 71
    run(*given)
    if [driver.calls[0], driver.calls[-1], len(driver.calls)] != [("enter", 70), ("enter", 71), 4]:
        raise SystemExit("a thread is left on another device")
    driver.calls.clear()
    driver.statuses[:] = [7, 7]
    must_refuse(KeyError, run, *given)
    driver.statuses[:] = [7, 0, 0, 0]
    must_refuse(KeyError, run, *given)
    driver.calls.clear()
    driver.context = 0
    run(*given)
    if driver.calls[0] != ("enter", 70) or len(driver.calls) != 3 or driver.context != 70:
        raise SystemExit("a thread on no device gets none")


def check_no_steps(launch: Any) -> None:
    """What is no plan for a GPU."""
    driver, asked = Driver(), Asked().functions()

    def sized(*workgroups: int, shared: int = 0) -> tuple:
        return DISPATCH, 7, workgroups, (64, 1, 1), shared, (), ((0, 0, 4),), 0, False

    whole = (0, 0, 256)
    for steps in (
        *((kernel(7, each),) for each in [(4, 0, 0), (-1, 0, 0), (0, -4, 4), (0, 0, -1), (0, 0, 260), (3, 1020, 8)]),
        *((kernel(7, *[whole] * 3, table=number),) for number in (2, -1, 513)),
        (kernel(7, *[whole] * 600),),
        *((each,) for each in (sized(1 << 32, 1, 1), sized(1, -1, 1), sized(1, 1, 1, shared=1 << 32))),
        ((FILL, (whole,), 0, 3),),
        ((FILL, ((0, 0, 2),), 0, 4),),
        ((FILL, (whole, whole), 0, 4),),
        ((COPY, (whole,)),),
        ((COPY, (whole, (1, 0, 8))),),
        ((COPY, ((0, 0, 16), (0, 8, 16))),),
        ((3, (whole,)),),
    ):
        must_refuse(ValueError, steps_of, launch, driver, asked, steps)
    for steps in ((7,), ((),), (("fill",),), ((FILL, 3, 0, 4),), ((COPY, (3, 4)),), ((COPY, (whole, (0, 0))),)):
        must_refuse(TypeError, steps_of, launch, driver, asked, steps)
    for tensors in ((((-1,), 0, 32, False, False),) * 3, (((), 0, 0, True, False),) * 3):
        must_refuse(ValueError, functools.partial(steps_of, launch, driver, asked, tensors=tensors))
    none = (0, *driver.addresses[1:]), (1, 0, 0), -1
    for key, other in zip(("driver", "place", "transient_bytes"), none, strict=True):
        must_refuse(ValueError, functools.partial(steps_of, launch, driver, asked, **{key: other}))
    must_refuse(TypeError, functools.partial(steps_of, launch, driver, asked, constants=((3,),)))
    for steps in (((FILL, ((4, 0, 16),), 0, 4),), ((COPY, ((0, 0, 16), (4, 0, 16))),)):
        must_refuse(ValueError, functools.partial(steps_of, launch, driver, asked, steps, constants=((64, 16),)))


def check_team(launch: Any, library: Any) -> None:
    """Steps of one workgroup each that wait for none of each other: one thread ran them all."""
    size = 40_000
    arguments = (((size,), 0, 32, False, False),) * 2
    for waits in (False, True):
        steps = [(DISPATCH, waits, "who", (1, 1, 1), (), ((index, 0, size * 4),), 0, 0) for index in range(2)]
        given = [Guarded(size).tensor for _ in arguments]
        launch.Plan("stress", library, arguments, (), (), (), b"", tuple(steps), refuse)(*given)
        if ({each[0].item() for each in given} == {0, 1}) is waits:
            raise SystemExit("steps are dealt to another team")


def in_threads(plans: list[RandomPlan], seed: int) -> None:
    def work(number: int) -> None:
        draw = random.Random(seed * 100 + number)
        for plan in draw.choices(plans, k=4):
            plan.check(draw)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_a_child(plans: list[RandomPlan], draw: random.Random) -> None:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            torch.set_num_threads(1)  # ATen's own team, which the model uses, does not survive either
            for plan in plans[:5]:
                plan.check(draw)
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if status:
        raise SystemExit(f"a forked child ended with {status}")


def in_a_team(plans: list[RandomPlan], draw: random.Random) -> None:
    """Calls from two threads of a team: the plans' own teams are nested in it."""
    gomp = ctypes.CDLL("libgomp.so.1", mode=os.RTLD_NOW | os.RTLD_NOLOAD)
    body = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: plans[0].check(draw))
    gomp.GOMP_parallel(body, None, 2, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extension", type=Path, help="the extension, built")
    parser.add_argument("library", type=Path, help="entries.c, built")
    parser.add_argument("--plans", type=int, default=400)
    options = parser.parse_args()
    spec = importlib.util.spec_from_file_location("_launch", options.extension)
    assert spec is not None
    assert spec.loader is not None
    launch = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(launch)
    torch.set_num_threads(3)
    if not launch.attach(torch.Tensor, torch.Tensor.__dlpack_c_exchange_api__, torch.get_num_threads):
        raise SystemExit("torch's OpenMP was not found")
    code = options.library.read_bytes()
    for part in (b"no code", code[:100]):
        must_refuse(OSError, launch.Library, part)
    library, made = launch.Library(code), []
    for seed in range(options.plans):
        draw = random.Random(seed)
        plan = RandomPlan(draw, launch, library)
        if plan.reads_transient_first():
            continue
        plan.check(draw)
        made.append(plan)
        if seed % 50 == 49:
            check_refusals(launch, launch.Library(code), draw)
            check_open_refusals(launch, launch.Library(code))
            check_places(launch, draw)
            check_sequences(launch, launch.Library(code), draw)
            check_steps(launch, draw)
            check_team(launch, launch.Library(code))
            in_threads(made[-20:], seed)
            in_a_team(made[-20:], draw)
    in_a_child(made[-20:], draw)
    made[-1].check(draw)
    print(f"{len(made)} plans as the model says")


if __name__ == "__main__":
    main()
