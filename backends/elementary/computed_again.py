"""Has loops behind a sum of columns compute again what the sum is of, so that nothing stores it for them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from torch_mlir import ir

from dovetail.backends.elementary.column_sums import is_large, reduced, stage, stages
from dovetail.backends.elementary.fence import fenced
from dovetail.dialects.memory.roots import behind_views
from dovetail.dialects.reading import is_used, producer, users
from dovetail.dialects.torch_facts.exactness import is_repeatable
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.types import is_value_type, require_tensor_info

_MOST = 16
"""Ops that are computed again: in the time of so many, a core reads a number from memory."""

_COMPUTED = (Kind.POINTWISE, Kind.VIEW)


def compute_again(ops: Sequence[ir.Operation]) -> None:
    """Has what waits for sums of columns compute, from the region's arguments, the large tensors that these are of.

    A batch norm's deviations are taken for its variance, and again when that is known. IREE makes a kernel of each sum,
    which stores them for what comes behind. All that is computed again gives the same bits.
    """
    known, early = stages(ops), reduced(ops)
    waiting: dict[int, list[ir.Operation]] = {}
    for op in ops:
        if kind(op) in (Kind.POINTWISE, Kind.REDUCTION):
            waiting.setdefault(stage(op, known), []).append(op)
    for number, behind in waiting.items():
        again = _Again()
        stored = [
            (op, at)
            for op in behind
            for at, value in enumerate(op.operands)
            if value in early and known.get(value, 0) < number and _is_stored_for_loops(value) and again.takes(value)
        ]
        taken = {value for op in behind for value in op.operands}
        if stored and again.pays({op.operands[at] for op, at in stored}, taken):
            for op in [each for each in behind if is_large(each.results[0])]:
                with op.location, ir.InsertionPoint(op):
                    for at, value in enumerate(list(op.operands)):
                        if (op, at) in stored or not is_large(value):
                            op.operands[at] = again.built(value)
    for op in reversed(ops):
        if kind(op) in _COMPUTED and not is_used(*op.results):
            op.erase()


@dataclass
class _Again:
    """What is computed again for the ops that wait for the same sums.

    Attributes:
        chain: the ops that compute it.
        read: the arguments that they take.
        made: by value, what stands for it.
    """

    chain: set[ir.Operation] = field(default_factory=set)
    read: set[ir.Value] = field(default_factory=set)
    made: dict[ir.Value, ir.Value] = field(default_factory=dict)

    def takes(self, value: ir.Value) -> bool:
        """Whether `value` follows from arguments and from what is small; adds what it takes to `chain` and `read`."""
        ops, read = set(self.chain), set(self.read)
        if producer(value) is None or not _follows(value, ops, read):
            return False
        self.chain, self.read = ops, read
        return True

    def pays(self, stored: set[ir.Value], taken: set[ir.Value]) -> bool:
        """Whether no more bytes are read, beside what is `taken` anyway, than would be written and read again."""
        return len(self.chain) <= _MOST and _nbytes(self.read - taken) <= 2 * _nbytes(stored)

    def built(self, value: ir.Value) -> ir.Value:
        """`value`, computed again at the insertion point: of arguments behind a fence, else IREE would merge both.

        What is small is not, nor for each element that takes it: of channels' means, that would be a division each.
        """
        if value not in self.made:
            op = producer(value)
            if op is None or not is_large(value):
                self.made[value] = fenced(value) if is_large(value) or _is_computed(value) else value
                return self.made[value]
            operands = [self.built(each) for each in op.operands]
            copy = cast(ir.Operation, op.clone())
            for at, each in enumerate(operands):
                copy.operands[at] = each
            self.made |= zip(op.results, copy.results, strict=True)
        return self.made[value]


def _follows(value: ir.Value, ops: set[ir.Operation], read: set[ir.Value]) -> bool:
    if not is_large(value):
        return True
    op = producer(value)
    if op is None:
        read.add(value)
        return True
    if op in ops:
        return True
    ops.add(op)
    return len(ops) <= _MOST and _is_cheap(op) and all(_follows(each, ops, read) for each in op.operands)


def _is_stored_for_loops(value: ir.Value) -> bool:
    """Whether `value` is large, and nothing but loops takes it: a result is stored anyway."""
    return is_large(value) and all(kind(user) in (*_COMPUTED, Kind.REDUCTION) for user in users(value))


def _is_computed(value: ir.Value) -> bool:
    """Whether `value` is what a loop over elements computes, or shows that."""
    op = behind_views(value) if is_value_type(value.type) else None
    return op is not None and kind(op) in (Kind.POINTWISE, Kind.REDUCTION)


def _is_cheap(op: ir.Operation) -> bool:
    """Whether `op` gives the same bits again, at little cost: no function does."""
    return kind(op) is Kind.VIEW or (kind(op) is Kind.POINTWISE and (is_repeatable(op) or row(op).multiplies))


def _nbytes(values: set[ir.Value]) -> int:
    return sum(require_tensor_info(each.type).nbytes for each in values)
