"""Views that show all of a tensor, row by row."""

from torch_mlir import ir

from dovetail.dialects.reading import producer
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.transposition import reorders

RESHAPES = tuple(f"torch.aten.{name}" for name in ("view", "_unsafe_view", "unsqueeze", "squeeze", "squeeze.dim"))
"""Of values: the same elements row by row, in other sizes."""
_ANY = (*RESHAPES, "torch.aten.reshape")
"""With the one that copies where strides allow no view."""


def behind_reshapes(value: ir.Value) -> ir.Operation | None:
    """The op that computes what `value` shows row by row; None for an argument."""
    made = producer(value)
    while made is not None and made.name in _ANY:
        made = producer(made.operands[0])
    return made


def is_part(value: ir.Value) -> bool:
    """Whether `value` shows a tensor otherwise than row by row: a part of it, or in another order.

    So does a copy of a part: in a region, where values have no memory, it is the view. Another order is computed.
    """
    shown = behind_reshapes(value)
    made = shown
    while made is not None and row(made).is_identity:
        made = behind_reshapes(made.operands[0])
    return made is not None and kind(made) is Kind.VIEW and (made == shown or not reorders(made))
