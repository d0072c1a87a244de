"""The Python numbers behind operands, and behind tensors that are filled with one."""

from torch_mlir import ir

from dovetail.dialects.reading import producer
from dovetail.dialects.torch_facts.ops import row

_NUMBERS = {
    "torch.constant.bool": ir.BoolAttr,
    "torch.constant.int": ir.IntegerAttr,
    "torch.constant.float": ir.FloatAttr,
}


def number(value: ir.Value) -> int | float | None:
    """The bool, int or float that a `torch.constant` makes, a bool as an int too; None for any other value."""
    op = producer(value)
    if op is not None and op.name == "torch.aten.Int.bool":
        truth = number(op.operands[0])
        return None if truth is None else int(truth)
    if op is None or op.name not in _NUMBERS:
        return None
    return _NUMBERS[op.name](op.attributes["value"]).value


def uniform(value: ir.Value) -> float | None:
    """The number that `value` is, or that a tensor was filled with, before it took its element type; else None."""
    op = producer(value)
    position = None if op is None else row(op).fills_at
    return number(value) if op is None or position is None else number(op.operands[position])
