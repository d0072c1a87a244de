"""The numbers of a launch plan as the extension takes them: registers, and what computes one from others."""

from torch_mlir import ir
from torch_mlir.dialects import arith

from dovetail.dialects.dovetail import CheckEqualOp, CheckRangeOp, SizeOp
from dovetail.dialects.dovetail.numbers import Number
from dovetail.dialects.plan_numbers import PREDICATES

# In the order of `native/plan.h`.
_NAMES = ("addi", "subi", "muli", "divsi", "ceildivsi", "maxsi", "minsi", "shrui", "select", *PREDICATES, "check_equal",
          "check_range")  # fmt: skip
OPERATIONS = {name: position for position, name in enumerate(_NAMES)}

MaybeOpen = int | tuple[int]
"""A number, or in a tuple the register that it is in."""


class PlanNumbers:
    """Reads the ops of a plan that compute or check numbers.

    Attributes:
        registers: what each starts with, and the argument and the dimension whose size it is, -1 where it is none.
        instructions: operation, target, and three operands, all registers but the first.
    """

    def __init__(self, arguments: list[ir.Value]):
        self._arguments = arguments
        self._positions: dict[ir.Value, int] = {}
        self._constants: dict[int, int] = {}
        self.registers: list[tuple[int, int, int]] = []
        self.instructions: list[tuple[int, int, int, int, int]] = []

    def read(self, op: ir.OpView) -> bool:
        """Takes `op` up, in the order of the plan; False if it is none that is about numbers.

        Raises:
            ValueError: for a size of what is no argument.
        """
        match op:
            case arith.ConstantOp():
                self._positions[op.result] = self._constant(ir.IntegerAttr(op.value).value)
            case SizeOp():
                self._positions[op.number] = self._size(op)
            case CheckEqualOp():
                self._add("check_equal", self._positions[op.number], self._positions[op.expected])
            case CheckRangeOp():
                self._add("check_range", self._positions[op.number], *map(self._constant, op.bounds))
            case arith.CmpIOp():
                name = PREDICATES[ir.IntegerAttr(op.predicate).value]
                self._positions[op.result] = self._add(name, *(self._positions[each] for each in op.operands))
            case _:
                name = op.operation.name.removeprefix("arith.")
                if name not in OPERATIONS:
                    return False
                self._positions[op.results[0]] = self._add(name, *(self._positions[each] for each in op.operands))
        return True

    def maybe_open(self, number: Number) -> MaybeOpen:
        """What the extension takes for `number`."""
        return number if isinstance(number, int) else (self._positions[number],)

    def _size(self, op: SizeOp) -> int:
        if op.argument not in self._arguments:
            raise ValueError("a plan wants the size of what is no argument")
        origin = (self._arguments.index(op.argument), op.dimension)
        for position, register in enumerate(self.registers):
            if register[1:] == origin:
                return position
        self.registers.append((0, *origin))
        return len(self.registers) - 1

    def _constant(self, number: int) -> int:
        if number not in self._constants:
            self._constants[number] = self._register(number)
        return self._constants[number]

    def _add(self, name: str, *operands: int) -> int:
        target = 0 if name.startswith("check") else self._register(0)
        padded = (*operands, 0, 0)[:3]
        self.instructions.append((OPERATIONS[name], target, padded[0], padded[1], padded[2]))
        return target

    def _register(self, known: int) -> int:
        self.registers.append((known, -1, -1))
        return len(self.registers) - 1
