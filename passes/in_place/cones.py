"""What computes an update in place: the pointwise ops before it, and the values that they start from."""

from collections.abc import Iterable
from dataclasses import dataclass

from torch_mlir import ir

from dovetail.dialects.building.cloning import FROM_PYTHON
from dovetail.dialects.dovetail import ReadOp
from dovetail.dialects.reading import made_by, producer
from dovetail.dialects.sizes.symbols import KnownSize, known_sizes
from dovetail.dialects.torch_facts.ops import Kind, is_constant, row
from dovetail.passes.in_place.candidates import Update

MAX_READ = 16
"""Tensors that one update may read. IREE made one dispatch of 19, two of 31 (docs/decisions/0012)."""


@dataclass(frozen=True)
class Cone:
    """What computes one update: ops of its region, in order, the values they start from, and those that are updates."""

    ops: tuple[ir.Operation, ...]
    starts: tuple[ir.Value, ...]
    updated: dict[ir.Value, Update]


class Cones:
    """Makes the cones of updates, of which one may start from the new value of another."""

    def __init__(self, updates: Iterable[Update]):
        self.by_value: dict[ir.Value, list[Update]] = {}
        self.by_name: dict[ir.Value, Update] = {}
        for update in updates:
            self.by_value.setdefault(update.value, []).append(update)
            self.by_name[update.known_as] = update

    def cone(self, update: Update, stored: set[ir.Value]) -> Cone:
        """What computes `update`. It starts at what its region has `stored` to memory anyway."""
        sizes = known_sizes(update.value)
        ops: dict[ir.Operation, None] = {}
        starts: dict[ir.Value, None] = {}
        updated: dict[ir.Value, Update] = {}

        def visit(value: ir.Value) -> None:
            op, other = producer(value), self._other(update, value)
            if other is not None:
                updated[value] = other
            elif op is None:
                starts[value] = None
            elif is_constant(op) or op in ops:
                return  # a constant is cloned with its user
            elif (value in stored and value != update.value) or not is_elementwise(op, sizes):
                starts[value] = None
            else:
                for operand in op.operands:
                    visit(operand)
                ops[op] = None

        visit(update.value)
        return Cone(tuple(ops), tuple(starts), updated)

    def _other(self, update: Update, value: ir.Value) -> Update | None:
        """The update, if not `update` itself, whose new value is `value`."""
        for other in self.by_value.get(value, ()):
            if other is not update:
                return other
        return None if producer(value) else self.by_name.get(passed(update.call, value))


def passed(call: ir.Operation, inside: ir.Value) -> ir.Value:
    """What `call` passes for an argument of the region that it calls."""
    return call.operands[ir.BlockArgument(inside).arg_number]


def is_own(update: Update, inside: ir.Value) -> bool:
    """Whether a value in the region is the old value of the updated argument, element for element."""
    read = None if producer(inside) else made_by(passed(update.call, inside), ReadOp.OPERATION_NAME)
    return read is not None and read.operands[0] == update.argument


def is_elementwise(op: ir.Operation, sizes: tuple[KnownSize, ...] | None) -> bool:
    """Whether `op` computes each element of a tensor of `sizes` from elements at the same index, and single numbers.

    Other ops need loops of their own, and might keep what they compute in between in the destination's memory.
    """
    computed = known_sizes(op.results[0]) if len(op.results) == 1 else None
    is_fill = computed == () if op.name in FROM_PYTHON else row(op).is_fill
    if row(op).kind is not Kind.POINTWISE and not is_fill:
        return False
    return computed is not None and (computed == sizes or (computed == () and is_large(sizes)))


def is_large(sizes: tuple[KnownSize, ...] | None) -> bool:
    """Whether a tensor of `sizes` is compiled as one of more elements than one."""
    return sizes is not None and any(size != 1 for size in sizes) and 0 not in sizes
