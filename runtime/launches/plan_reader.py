"""Reads launch plans from the IR as plain records, which the extension and a GPU's driver take."""

from torch_mlir import ir
from torch_mlir.dialects import arith, func

from dovetail.dialects import dovetail as ours
from dovetail.dialects.dovetail.numbers import PREDICATES, Number
from dovetail.dialects.reading import arguments, body, made_by
from dovetail.runtime.launches.plan_records import Copy, Dispatch, Fill, MaybeOpen, Range, Register, Step

# In the order of `native/plan.h`.
_NAMES = ("addi", "subi", "muli", "divsi", "ceildivsi", "maxsi", "minsi", "shrui", "select", *PREDICATES, "check_equal",
          "check_range")  # fmt: skip
OPERATIONS = {name: position for position, name in enumerate(_NAMES)}
"""The extension's numbers of operations, by name."""


class PlanReader:
    """What a plan says. Its buffers are its arguments, then its transients, then one with all of its constants.

    Attributes:
        registers: what each starts with, and the argument and the dimension whose size it is, -1 where it is none.
        instructions: name, target, and three operands, all registers but the first.
        transients: bytes of each.
        constants: the contents of the last buffer, in which each constant starts at a multiple of `alignment` bytes.
        steps: in order, each with whether it waits for those before it.

    Raises:
        ValueError: for what no launch can do.
    """

    def __init__(self, plan: func.FuncOp, alignment: int):
        self.registers: list[tuple[int, int, int]] = []
        self.instructions: list[tuple[str, int, int, int, int]] = []
        self.transients: list[MaybeOpen] = []
        self.constants = bytearray()
        self.steps: list[tuple[bool, Step[MaybeOpen]]] = []
        self._alignment = alignment
        self._arguments = arguments(plan)
        self._numbers: dict[ir.Value, int] = {}
        self._known: dict[int, int] = {}
        self._memory = {argument: (index, 0) for index, argument in enumerate(self._arguments)}
        ops = [op.opview for op in body(plan)]
        self._last = len(self._arguments) + sum(isinstance(op, ours.TransientOp) for op in ops)
        waits = False
        for op in ops:
            waits = waits or isinstance(op, ours.BarrierOp)
            if (step := self._step(op)) is not None:
                self.steps.append((waits, step))
                waits = False

    def _step(self, op: ir.OpView) -> Step[MaybeOpen] | None:
        """The launch that `op` is, if it is one; all else is taken up."""
        match op:
            case ours.DispatchOp():
                counts, words = (tuple(map(self._maybe_open, listed)) for listed in (op.counts, op.words))
                bindings = tuple(map(self._range, op.bindings))
                sizes = counts, op.threads, op.shared_bytes
                return Dispatch(op.entry_name, *sizes, words, bindings, op.set_count, op.waits)
            case ours.FillBufferOp():
                return Fill(self._range(op.target), op.bits, op.width)
            case ours.CopyBufferOp():
                return Copy(self._range(op.source), self._range(op.target))
            case ours.TransientOp():
                self._memory[op.memory] = (len(self._arguments) + len(self.transients), 0)
                self.transients.append(self._maybe_open(op.size))
            case ours.ConstantOp():
                self._memory[op.memory] = (self._last, len(self.constants))
                self.constants += op.contents + bytes(-op.size % self._alignment)
            case arith.ConstantOp():
                self._numbers[op.result] = self._constant(ir.IntegerAttr(op.value).value)
            case ours.SizeOp():
                self._numbers[op.number] = self._size(op)
            case ours.CheckEqualOp():
                self._compute("check_equal", self._numbers[op.number], self._numbers[op.expected])
            case ours.CheckRangeOp():
                self._compute("check_range", self._numbers[op.number], *map(self._constant, op.bounds))
            case ours.BarrierOp() | ours.SubspanOp() | func.ReturnOp():
                pass
            case _:
                name = op.operation.name.removeprefix("arith.")
                if name == "cmpi":
                    name = PREDICATES[ir.IntegerAttr(op.predicate).value]
                if name not in OPERATIONS:
                    raise ValueError(f"a plan has no '{op.operation.name}'")
                self._numbers[op.results[0]] = self._compute(name, *(self._numbers[value] for value in op.operands))
        return None

    def _range(self, value: ir.Value) -> Range[MaybeOpen]:
        """What a subspan is of its buffer."""
        made = made_by(value, ours.SubspanOp.OPERATION_NAME)
        if made is None or (span := made.opview).memory not in self._memory:
            raise ValueError("launches take subspans of arguments, transients and constants alone")
        buffer, offset = self._memory[span.memory]
        if isinstance(span.start, int):
            return Range(buffer, offset + span.start, self._maybe_open(span.size))
        if offset:
            raise ValueError("what is read of a constant starts at no number")
        return Range(buffer, self._maybe_open(span.start), self._maybe_open(span.size))

    def _maybe_open(self, number: Number) -> MaybeOpen:
        return number if isinstance(number, int) else Register(self._numbers[number])

    def _size(self, op: ours.SizeOp) -> int:
        if op.argument not in self._arguments:
            raise ValueError("a plan wants the size of what is no argument")
        origin = (self._arguments.index(op.argument), op.dimension)
        for position, register in enumerate(self.registers):
            if register[1:] == origin:
                return position
        return self._register(0, *origin)

    def _constant(self, number: int) -> int:
        if number not in self._known:
            self._known[number] = self._register(number)
        return self._known[number]

    def _compute(self, name: str, *operands: int) -> int:
        target = 0 if name.startswith("check") else self._register(0)
        first, second, third, *_ = (*operands, 0, 0)
        self.instructions.append((name, target, first, second, third))
        return target

    def _register(self, known: int, argument: int = -1, dimension: int = -1) -> int:
        self.registers.append((known, argument, dimension))
        return len(self.registers) - 1
