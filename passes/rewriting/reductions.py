"""Which dimensions a reduction takes in."""

from torch_mlir import ir

from dovetail.dialects.torch_facts.ops import row
from dovetail.dialects.torch_facts.types import shaped_info
from dovetail.passes.rewriting.constants import integer, integers, is_none


def reduced_dims(op: ir.Operation) -> list[int] | None:
    """The dimensions whose numbers `op` takes together, in order: all of them where no operand names one.

    None where they are not known.
    """
    info, place = shaped_info(op.operands[0].type), row(op).reduces_at
    if info is None or place is None:
        return None
    rank = len(info.shape)
    given = op.operands[place] if place < len(op.operands) else None
    # Of two operands, a number is the type of the result; a dimension of a tensor without any is none.
    if not rank or given is None or is_none(given) or (len(op.operands) == 2 and integer(given) is not None):
        return list(range(rank))
    single = integer(given)
    named = integers(given) if single is None else (single,)
    return None if named is None else sorted(dim % rank for dim in named) or list(range(rank))
