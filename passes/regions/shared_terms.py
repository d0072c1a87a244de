"""What a sum of columns adds up and something else takes too: of both, IREE makes one kernel that no GPU runs well."""

from torch_mlir import ir

from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import producer, users
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.types import require_shaped_info
from dovetail.passes.regions.halves import is_work
from dovetail.passes.rewriting.cloning import ancestors
from dovetail.passes.rewriting.reductions import reduced_dims


def before_columns(ops: list[ir.Operation]) -> set[ir.Operation]:
    """The work of a region that computes what its first such sum adds up; none where it has no such sum."""
    for op in ops:
        made = _terms(op) if _adds_columns(op) else None
        if made is not None and _takers(made) != {op}:
            return {each for each in ancestors([made]) if is_work(each)}
    return set()


def _adds_columns(op: ir.Operation) -> bool:
    """Whether `op` reduces dimensions of which none is the last: neighbours in memory go to different results."""
    dims = reduced_dims(op) if kind(op) is Kind.REDUCTION else None
    return dims is not None and max(dims) + 1 < len(require_shaped_info(op.operands[0].type).shape)


def _terms(op: ir.Operation) -> ir.Operation | None:
    """The work that computes what `op` reduces, through views; None for the region's argument."""
    made = producer(op.operands[0])
    while made is not None and kind(made) is Kind.VIEW:
        made = producer(made.operands[0])
    return made if made is not None and is_work(made) else None


def _takers(made: ir.Operation) -> set[ir.Operation]:
    """What takes the results of `made`, through views."""
    met = reachable(users(*made.results), lambda op: users(*op.results) if kind(op) is Kind.VIEW else ())
    return {op for op in met if kind(op) is not Kind.VIEW}
