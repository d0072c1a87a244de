"""The memory of a launch plan as launching takes it: buffers by number, and ranges of their bytes."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import ConstantOp, SubspanOp, TransientOp
from dovetail.dialects.reading import body, made_by
from dovetail.runtime.plan_numbers import MaybeOpen, PlanNumbers


class PlanMemory:
    """Reads the ops of a plan that make memory or name ranges of it.

    Buffers are the plan's arguments, then its transients, then one with all of its constants.

    Attributes:
        transients: bytes of each.
        constants: the contents of the last buffer, in which each constant starts at a multiple of `alignment` bytes.
    """

    def __init__(self, plan: func.FuncOp, numbers: PlanNumbers, alignment: int):
        self.transients: list[MaybeOpen] = []
        self.constants = bytearray()
        self._numbers = numbers
        self._alignment = alignment
        self._positions = {argument: (index, 0) for index, argument in enumerate(plan.arguments)}
        self._first = len(plan.arguments)
        self._last = self._first + sum(isinstance(op.opview, TransientOp) for op in body(plan))

    def read(self, op: ir.OpView) -> bool:
        """Takes `op` up, in the order of the plan; False if it is none that is about memory."""
        match op:
            case TransientOp():
                self._positions[op.memory] = (self._first + len(self.transients), 0)
                self.transients.append(self._numbers.maybe_open(op.size))
            case ConstantOp():
                self._positions[op.memory] = (self._last, len(self.constants))
                self.constants += op.contents + bytes(-op.size % self._alignment)
            case _:
                return isinstance(op, SubspanOp)
        return True

    def range(self, value: ir.Value) -> tuple[int, MaybeOpen, MaybeOpen]:
        """The buffer that a subspan lies in, and its offset and its length there, in bytes.

        Raises:
            ValueError: for what is no subspan of the plan's memory.
        """
        made = made_by(value, SubspanOp.OPERATION_NAME)
        if made is None or (span := made.opview).memory not in self._positions:
            raise ValueError("launches take subspans of arguments, transients and constants alone")
        buffer, offset = self._positions[span.memory]
        if isinstance(span.start, int):
            return buffer, offset + span.start, self._numbers.maybe_open(span.size)
        if offset:
            raise ValueError("what is read of a constant starts at no number")
        return buffer, self._numbers.maybe_open(span.start), self._numbers.maybe_open(span.size)
