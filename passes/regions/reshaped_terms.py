"""What a sum adds up, in other sizes: its elements are computed in these, where that moves no more memory.

IREE computes a value that several use once, and stores it. A sum in blocks takes it in other sizes than its other users
do, so that no loop could be part of both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.reading import producer
from dovetail.dialects.statements.recompute import is_pinned
from dovetail.dialects.torch_facts.exactness import deciding_operands
from dovetail.dialects.torch_facts.ops import is_constant
from dovetail.dialects.torch_facts.types import require_tensor_info, tensor_info, with_shape
from dovetail.passes.rewriting.pointwise import converts, of_others, pointwise_op
from dovetail.passes.rewriting.rules import shape
from dovetail.passes.rewriting.sums import with_sizes


def in_sizes(value: ir.Value, sizes: Sequence[int]) -> ir.Value:
    """Builds `value`, a tensor of a region, in other `sizes` of as many elements.

    Pointwise ops are cloned behind the reshape where their inputs are no larger than what they compute, once if the
    region returns it, else twice: so much is written and read. Nothing pinned is computed again, and what decides only
    of what lies in memory.
    """
    if shape(value) == tuple(sizes):
        return value
    terms = _Terms(value, tuple(sizes))
    terms.choose(value)
    return terms.build(value)


@dataclass
class _Terms:
    """The ops that compute a tensor.

    Attributes:
        whole, sizes: its sizes, and the new ones.
        inputs: by tensor of its sizes, those in memory that it is computed from.
        built: by tensor, what is built for it.
    """

    value: ir.Value
    sizes: tuple[int, ...]
    inputs: dict[ir.Value, frozenset[ir.Value]] = field(default_factory=dict)
    built: dict[ir.Value, ir.Value] = field(default_factory=dict)

    @property
    def whole(self) -> tuple[int, ...]:
        return shape(self.value)

    def choose(self, value: ir.Value) -> frozenset[ir.Value]:
        """The tensors in memory that `value` is computed from, which is one itself if that is read at less cost."""
        if value not in self.inputs:
            read = [self.choose(each) for each in self._operands(value)]
            found = frozenset[ir.Value]().union(*read)
            is_read = not read or _times_moved(value) * _nbytes(value) < sum(map(_nbytes, found))
            self.inputs[value] = frozenset([value]) if is_read else found
        return self.inputs[value]

    def build(self, value: ir.Value) -> ir.Value:
        """`value` in the new sizes."""
        if value not in self.built:
            op = None if value in self.inputs[value] else pointwise_op(value)
            if op is None:
                self.built[value] = with_sizes(value, self.sizes)
            else:
                operands = [self._operand(each) for each in op.operands]
                self.built[value] = of_others(op, operands, with_shape(value.type, self.sizes), self.sizes)
        return self.built[value]

    def _operand(self, value: ir.Value) -> ir.Value:
        if value in self.inputs:
            return self.build(value)
        sizes = self._repeated(value)
        return with_sizes(value, sizes) if sizes else value

    def _operands(self, value: ir.Value) -> list[ir.Value]:
        """What an op that may be computed again takes of the whole tensor's sizes; nothing where `value` has none."""
        op = pointwise_op(value)
        if op is None or shape(value) != self.whole or is_pinned(op) or not _is_decided_by_memory(op):
            return []
        tensors = [each for each in op.operands if not _is_stated(each)]
        if any(self._repeated(each) is None for each in tensors):
            return []
        return [each for each in tensors if shape(each) == self.whole]

    def _repeated(self, value: ir.Value) -> tuple[int, ...] | None:
        """The sizes of an operand that is repeated over dimensions, in the new ones; None where they do not show that.

        A number keeps its sizes, none.
        """
        info = tensor_info(value.type)
        if info is None or not info.is_static:
            return () if _is_stated(value) else None
        if not info.shape:
            return ()
        given = (1,) * (len(self.whole) - len(info.shape)) + shape(value)
        found: list[int] = []
        for old, new in _groups(self.whole, self.sizes):
            if all(given[dim] == self.whole[dim] for dim in old):
                found += [self.sizes[dim] for dim in new]
            elif all(given[dim] == 1 for dim in old):
                found += [1 for _ in new]
            else:
                return None
        return tuple(found)


def _groups(old: Sequence[int], new: Sequence[int]) -> list[tuple[range, range]]:
    """The dimensions of two shapes, in the shortest runs of neighbours that hold as many elements; none is empty."""
    found: list[tuple[range, range]] = []
    starts, ends = [0, 0], [0, 0]
    counts = [1, 1]
    while ends[0] < len(old) or ends[1] < len(new):
        which = 0 if ends[1] == len(new) or (ends[0] < len(old) and counts[0] <= counts[1]) else 1
        counts[which] *= (old, new)[which][ends[which]]
        ends[which] += 1
        if counts[0] == counts[1] and all(end > start for start, end in zip(starts, ends, strict=True)):
            found.append((range(starts[0], ends[0]), range(starts[1], ends[1])))
            starts, counts = list(ends), [1, 1]
    if starts != ends:
        (before, after), *earlier = reversed(found)
        found = [*reversed(earlier), (range(before.start, ends[0]), range(after.start, ends[1]))]
    return found


def _is_decided_by_memory(op: ir.Operation) -> bool:
    """Whether all by which `op` decides are arguments of the region, as they are or converted."""
    return all(_lies_in_memory(op.operands[index]) for index in deciding_operands(op))


def _lies_in_memory(value: ir.Value) -> bool:
    op = producer(value)
    return op is None or (converts(op) and producer(op.operands[0]) is None)


def _is_stated(value: ir.Value) -> bool:
    made = producer(value)
    return made is not None and is_constant(made)


def _nbytes(value: ir.Value) -> int:
    info = require_tensor_info(value.type)
    return info.numel * info.itemsize


def _times_moved(value: ir.Value) -> float:
    """How often memory is read or written for a sum of `value` that is not computed for it alone."""
    users = {use.owner.operation for use in value.uses}
    if any(user.name == func.ReturnOp.OPERATION_NAME for user in users):
        return 1
    return 2 if len(users) > 1 else float("inf")
