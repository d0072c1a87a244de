"""Plans whose numbers follow from sizes: a plan of known numbers for each set of sizes that is met."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from dovetail.runtime.cuda.library import Library
from dovetail.runtime.cuda.plan import Plan
from dovetail.runtime.cuda.plan_record import Argument, PlanRecord
from dovetail.runtime.launches.plan_records import Copy, Dispatch, Fill, MaybeOpen, Range, Register, Step

MOST_PLANS = 64
"""Sets of sizes whose plans are remembered; the oldest is forgotten, so that changing sizes can't fill memory."""

BUFFER_ALIGNMENT = 256
"""Bytes between transients and between constants: a row of the memory's own transfers."""

_COMPUTED: Mapping[str, Callable[..., int]] = {
    "addi": lambda a, b, _: a + b,
    "subi": lambda a, b, _: a - b,
    "muli": lambda a, b, _: a * b,
    "divsi": lambda a, b, _: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "ceildivsi": lambda a, b, _: -(-a // b),
    "maxsi": lambda a, b, _: max(a, b),
    "minsi": lambda a, b, _: min(a, b),
    "shrui": lambda a, b, _: (a % 2**64) >> b,
    "select": lambda a, b, c: b if a else c,
    "eq": lambda a, b, _: a == b,
    "ne": lambda a, b, _: a != b,
    "slt": lambda a, b, _: a < b,
    "sle": lambda a, b, _: a <= b,
    "sgt": lambda a, b, _: a > b,
    "sge": lambda a, b, _: a >= b,
}


@dataclass(frozen=True)
class OpenRecord:
    """A plan whose numbers may be open.

    Attributes:
        arguments: inputs, then destinations, None in place of a size that is open; None for one that is a number.
        transients: bytes of each; they are the buffers after the arguments, the constants are the last one.
        steps: workgroups, words, offsets and sizes may be open.
        registers: what each starts with, and the argument and the dimension whose size it is, -1 where it is none.
        instructions: name, target, and three operands, all registers but the first.
    """

    region: str
    arguments: tuple[tuple[torch.dtype, tuple[int | None, ...], bool] | None, ...]
    transients: tuple[MaybeOpen, ...]
    constants: bytes
    steps: tuple[Step[MaybeOpen], ...]
    registers: tuple[tuple[int, int, int], ...]
    instructions: tuple[tuple[str, int, int, int, int], ...]

    def closed(self, given: Sequence[Any]) -> PlanRecord:
        """The plan for the sizes of these arguments, without what the driver refuses: launches of no workgroup.

        Raises:
            TypeError, ValueError: for sizes that the plan is not made for, naming region and argument.
        """
        arguments: list[Argument] = []
        positions: dict[int, tuple[int, int]] = {}
        for index, (stated, each) in enumerate(zip(self.arguments, given, strict=True)):
            if stated is None:
                self._require(isinstance(each, int), f"argument {index}: got {type(each).__name__}, expected an int")
                continue
            dtype, shape, is_written = stated
            self._require(isinstance(each, torch.Tensor), f"argument {index}: got {type(each).__name__}, not a tensor")
            pairs = zip(shape, each.shape, strict=False)
            fits = len(shape) == each.dim() and all(own is None or own == size for own, size in pairs)
            self._require(fits, f"argument {index}: got shape {tuple(each.shape)}, expected {shape}")
            positions[index] = (len(arguments), 0)
            arguments.append(Argument(dtype, tuple(each.shape), is_written))
        values = self._values(given)
        end = 0
        for number, size in enumerate(self.transients):
            positions[len(self.arguments) + number] = (len(arguments), end)
            end += -(-_number(size, values) // BUFFER_ALIGNMENT) * BUFFER_ALIGNMENT
        positions[len(self.arguments) + len(self.transients)] = (len(arguments) + 1, 0)
        limits = [argument.dtype.itemsize * torch.Size(argument.shape).numel() for argument in arguments]
        limits += [end, len(self.constants)]

        def range_of(open_range: Range[MaybeOpen]) -> Range[int]:
            buffer, base = positions[open_range.buffer]
            offset, size = (_number(number, values) for number in open_range[1:])
            inside = offset >= 0 and size >= 0 and base + offset + size <= limits[buffer]
            self._require(inside, f"bytes {offset} to {offset + size} are outside of a buffer of {limits[buffer]}")
            return Range(buffer, base + offset, size)

        steps = [_closed(step, range_of, values) for step in self.steps]
        launched = tuple(step for step in steps if not (isinstance(step, Dispatch) and 0 in step.workgroups))
        return PlanRecord(self.region, tuple(arguments), end, self.constants, launched)

    def _values(self, given: Sequence[Any]) -> list[int]:
        values = [known for known, _, _ in self.registers]
        for register, (_, index, dim) in enumerate(self.registers):
            if index >= 0:
                values[register] = given[index] if dim < 0 else given[index].shape[dim]
        for name, target, *operands in self.instructions:
            first, second, third = (values[operand] for operand in operands)
            if name == "check_equal":
                self._require(first == second, f"got sizes {first} and {second}, which must be equal")
            elif name == "check_range":
                self._require(second <= first <= third, f"got a size of {first}, expected {second} to {third}")
            else:
                try:
                    values[target] = int(_COMPUTED[name](first, second, third))
                except (ArithmeticError, ValueError) as error:
                    self._require(False, f"'{name}' of {first} and {second}: {error}")
        return values

    def _require(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise ValueError(f"region '{self.region}': {otherwise}")


class OpenPlan:
    """A region of open sizes, callable as a `Plan` is; numbers that are arguments are Python's."""

    def __init__(self, record: OpenRecord, library: Library):
        self.name = record.region
        self.library = library
        self._record = record
        self._plans: dict[tuple, Plan] = {}

    def __call__(self, *given: Any) -> None:
        key = tuple(value.shape if isinstance(value, torch.Tensor) else value for value in given)
        plan = self._plans.get(key)
        if plan is None:
            if len(given) != len(self._record.arguments):
                expected = len(self._record.arguments)
                raise TypeError(f"region '{self.name}': got {len(given)} arguments, expected {expected}")
            plan = Plan(self._record.closed(given), self.library)
            met = list(self._plans)  # at once, as other threads go on
            for oldest in met[: max(len(met) - MOST_PLANS + 1, 0)]:
                self._plans.pop(oldest, None)
            self._plans[key] = plan
        plan(*(value for value in given if isinstance(value, torch.Tensor)))


CudaPlan: TypeAlias = Plan | OpenPlan
"""What runs a region on a GPU."""


def _number(number: MaybeOpen, values: Sequence[int]) -> int:
    return values[number.number] if isinstance(number, Register) else number


def _closed(
    step: Step[MaybeOpen], range_of: Callable[[Range[MaybeOpen]], Range[int]], values: Sequence[int]
) -> Step[int]:
    match step:
        case Dispatch():
            workgroups = tuple(_number(count, values) for count in step.workgroups)
            words = tuple(_number(word, values) & 0xFFFFFFFF for word in step.words)
            bindings = tuple(map(range_of, step.bindings))
            sizes = workgroups, step.threads, step.shared_bytes
            return Dispatch(step.entry, *sizes, words, bindings, step.sets, step.waits)
        case Fill():
            return Fill(range_of(step.target), step.bits, step.width)
        case Copy():
            return Copy(range_of(step.source), range_of(step.target))
