"""Erases what computed a value that nobody uses any more."""

from collections.abc import Container

from torch_mlir import ir

from dovetail.dialects.reading import is_used, producer
from dovetail.dialects.torch_facts.ops import Kind, row


def erase_unused(value: ir.Value, kinds: Container[Kind]) -> None:
    """Erases the ops of `kinds` that compute `value`, as far as nothing else uses their results."""
    pending = {value: None}  # each value once: what is erased may not be asked again
    while pending:
        each, _ = pending.popitem()
        op = producer(each)
        if op is None or row(op).kind not in kinds or is_used(*op.results):
            continue
        operands = dict.fromkeys(op.operands)
        op.erase()
        pending |= operands
