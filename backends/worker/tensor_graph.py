"""The straight line of ops of a function on tensors, and what each needs of the others."""

from collections.abc import Iterable

from iree.compiler import ir

from dovetail.backends.worker.loops import Loops
from dovetail.backends.worker.read_loops import read_loops
from dovetail.backends.worker.walk import clone

LOOPS = "linalg.generic"
COMPUTING = (LOOPS, "linalg.fill", "tensor.empty")
RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape")


class TensorGraph:
    """The ops of a block by number, in order.

    Attributes:
        ops: the ops themselves.
        loops: of those that are plain loops.
        needs: by number, the ops whose results each takes.
    """

    def __init__(self, block: ir.Block, takes_open: bool = False):
        self.ops = [view.operation for view in block.operations]
        self._numbers = {result: number for number, op in enumerate(self.ops) for result in op.results}
        self._computing = {number for number, op in enumerate(self.ops) if op.name in COMPUTING}
        self.loops: list[Loops | None] = [read_loops(op, takes_open) if op.name == LOOPS else None for op in self.ops]
        self.needs = [[self._numbers[value] for value in op.operands if value in self._numbers] for op in self.ops]

    def number(self, value: ir.Value) -> int:
        """The op that computes `value`; -1 of an argument."""
        return self._numbers.get(value, -1)

    def extents(self, number: int) -> tuple[int, ...]:
        """How far the loops of op `number`, which has some, run."""
        loops = self.loops[number]
        return () if loops is None else loops.extents

    def needed_by(self, numbers: Iterable[int], among: set[int] | None = None) -> set[int]:
        """The ops that compute what `numbers` need, these included; only those of `among`, if it is given."""
        return self.reached(numbers, self._computing if among is None else self._computing & among)

    def reads_stored(self, number: int) -> bool:
        """Whether op `number` takes, as it is or reshaped, what a loop computes that something else takes too."""
        users, pending = {number}, list(self.needs[number])
        while pending:
            each = pending.pop()
            loops = self.loops[each]
            if self.ops[each].name in RESHAPES:
                users.add(each)
                pending += self.needs[each]
            elif loops is not None and not loops.reduces and not users.issuperset(self.users({each})):
                return True
        return False

    def reached(self, numbers: Iterable[int], among: set[int] | None = None) -> set[int]:
        """All ops that `numbers` need, these included; by way of those of `among` alone, if it is given."""
        found: set[int] = set()
        left = list(numbers)
        while left:
            number = left.pop()
            if number not in found and (among is None or number in among):
                found.add(number)
                left += self.needs[number]
        return found

    def is_stored(self, number: int) -> bool:
        """Whether something else than a loop takes what op `number` computes."""
        return any(self.ops[user].name != LOOPS for user in self.users({number}))

    def gives_truths(self, number: int) -> bool:
        """Whether op `number`, of one result, gives a tensor of truth values."""
        return ir.RankedTensorType(self.ops[number].results[0].type).element_type == ir.IntegerType.get_signless(1)

    def erase_unused(self, numbers: Iterable[int]) -> None:
        """Erases those of `numbers` that nothing uses, after those that use them alone."""
        for number in sorted(numbers, reverse=True):
            if not any(list(result.uses) for result in self.ops[number].results):
                self.ops[number].erase()

    def is_closed(self, inside: set[int]) -> bool:
        """Whether all that `inside` takes from elsewhere is there before any of its loops runs."""
        beside = {need for number in inside for need in self.needs[number]} - inside
        return not any(self.loops[number] and number in inside for number in self.reached(beside))

    def users(self, inside: set[int]) -> list[int]:
        """The ops outside of `inside` that take any of it, in order."""
        return [n for n, needed in enumerate(self.needs) if n not in inside and not inside.isdisjoint(needed)]

    def copied(self, numbers: Iterable[int], at: ir.InsertionPoint) -> dict[ir.Value, ir.Value]:
        """Copies of ops, in order, where all else that they take is known; their results by the old ones."""
        values: dict[ir.Value, ir.Value] = {}
        for number in sorted(numbers):
            clone(self.ops[number], values, at)
        return values

    def move_behind(self, numbers: set[int], stand: ir.Operation) -> None:
        """Moves behind `stand`, which stands for `numbers`, the ops between these that need any of them, in order."""
        moved, behind = set(numbers), stand
        for number in range(min(numbers), max(numbers)):
            if number not in numbers and not moved.isdisjoint(self.needs[number]):
                moved.add(number)
                self.ops[number].move_after(behind)
                behind = self.ops[number]
