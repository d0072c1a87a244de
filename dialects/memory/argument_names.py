"""The user's names for memory, as messages say them."""

from torch_mlir import ir

from dovetail.dialects.attributes import NAME
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import fact_of


def argument_name(value: ir.Value) -> str | None:
    """The user's name for the argument in whose memory `value` lies, None where there is none."""
    root = memory_root(value)
    stated = fact_of(root, NAME) if isinstance(root.owner, ir.Block) else None
    return None if stated is None else ir.StringAttr(stated).value
