"""Pass `limit-regions`: regions that would take IREE too long become several."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.building.cloning import ancestors
from dovetail.dialects.memory.roots import behind_views
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import Module, arguments, body, operand_ops, users
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.element_types import HALF_PRECISION
from dovetail.dialects.torch_facts.names import STORE
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.types import require_shaped_info, tensor_info
from dovetail.passes.base import Pass
from dovetail.passes.costs.cost_model import MOST_BINDINGS, costs_of
from dovetail.passes.regions.pieces import Piece, by_stores, divided, is_work
from dovetail.passes.regions.split_region import replace_region
from dovetail.passes.rewriting.pointwise import converts
from dovetail.passes.rewriting.sums import reduced_dims


def before_columns(ops: list[ir.Operation]) -> set[ir.Operation]:
    """The work of a region that computes what its first sum of columns adds up, where something else takes that too.

    Of both, IREE makes one kernel that no GPU runs well; not of sums of the same columns. None where there is no such
    sum.
    """
    for op in ops:
        made = _terms(op) if _adds_columns(op) else None
        if made is not None and not _is_added_up(made, op):
            return {each for each in ancestors([made]) if is_work(each)}
    return set()


def _adds_columns(op: ir.Operation) -> bool:
    """Whether `op` reduces dimensions of which none is the last: neighbours in memory go to different results."""
    dims = reduced_dims(op) if kind(op) is Kind.REDUCTION else None
    return dims is not None and max(dims) + 1 < len(require_shaped_info(op.operands[0].type).shape)


def _terms(op: ir.Operation) -> ir.Operation | None:
    """The work that computes what `op` reduces, through views; None for the region's argument, also a widened one.

    That IREE widens in each kernel that takes it.
    """
    made = behind_views(op.operands[0])
    return made if made is not None and is_work(made) and not _widens_argument(made) else None


def _widens_argument(op: ir.Operation) -> bool:
    if not converts(op) or behind_views(op.operands[0]) is not None:
        return False
    before, after = (require_shaped_info(value.type).dtype for value in (op.operands[0], op.results[0]))
    return before in HALF_PRECISION and after == "float32"


def _is_added_up(made: ir.Operation, like: ir.Operation) -> bool:
    """Whether all that takes what `made` computes, one by one, adds up columns as `like` does: sums of one kernel."""

    def further(op: ir.Operation) -> set[ir.Operation]:
        return _takers(op) if kind(op) is Kind.POINTWISE else set()

    met = reachable(_takers(made), further)
    return all(_adds_up_alike(op, like) for op in met if not further(op))


def _adds_up_alike(op: ir.Operation, like: ir.Operation) -> bool:
    if not _adds_columns(op):
        return False
    sizes = [require_shaped_info(each.operands[0].type).shape for each in (op, like)]
    return sizes[0] == sizes[1] and reduced_dims(op) == reduced_dims(like)


def _takers(made: ir.Operation) -> set[ir.Operation]:
    """What takes the results of `made`, through views."""
    met = reachable(users(*made.results), lambda op: users(*op.results) if kind(op) is Kind.VIEW else ())
    return {op for op in met if kind(op) is not Kind.VIEW}


_OVERLAP = 1.25
"""How many times the ops of a region its halves may have together: what both need is computed twice."""


class LimitRegionsPass(Pass, name="limit-regions", runs_at="regions"):
    """Splits lowered regions until they compile in reasonable time.

    The limits are the target's, in `passes/costs/cost_model.py`.

    IREE computes what a reduction reads once more for what uses both, so its compile time doubles with each reduction
    of what an earlier one gave. Such a chain is cut. What makes very many results is halved, if the halves have little
    in common. Single numbers get regions of their own, if they are many: IREE computes them in one dispatch. On a GPU,
    what a sum of columns adds up and something else takes is computed before it, unless that is a widened argument: of
    both, IREE makes one kernel, of which no thread's share fits its registers.

    Before:  `call @region(%a, %d)`, in which 12 reductions depend on each other
    After:   `call @region_0(%a, %m)` with the first 6, and `call @region_1(%v, %d)` with the others
    """

    def run(self, module: ir.Module) -> bool:
        costs, is_changed = costs_of(module), False
        pending = list(Module(module).regions.items())
        while pending:
            name, region = pending.pop()
            pieces = _pieces(region, costs.reduction_depth, costs.results, device_type(module) == "cuda")
            if pieces is not None:
                is_changed = True
                replace_region(module, name, pieces)
                made = Module(module).regions
                pending += [(piece, made[piece]) for piece in (f"{name}_0", f"{name}_1")]
        return is_changed


def _pieces(region: func.FuncOp, reduction_depth: int, results: int, is_gpu: bool) -> tuple[Piece, Piece] | None:
    ops = body(region)
    if is_gpu and (terms := before_columns(ops)):
        return divided(ops, terms)
    if sum(kind(op) is Kind.REDUCTION for op in ops) > reduction_depth:
        depths = _reduction_depths(ops)
        if max(depths.values()) > reduction_depth:
            return divided(ops, {op for op in ops if is_work(op) and depths[op] <= reduction_depth})
    infos = {argument: tensor_info(argument.type) for argument in arguments(region)}
    scalars = {argument for argument, info in infos.items() if info is not None and info.shape == ()}
    stores = [op for op in ops if op.name == STORE and op.operands[1] in scalars]
    if len(scalars) > MOST_BINDINGS and stores:
        return by_stores(ops, set(stores[: MOST_BINDINGS // 2]))
    pieces = by_stores(ops) if sum(op.name == STORE for op in ops) > results else None
    return pieces if pieces is not None and sum(len(piece.ops) for piece in pieces) <= _OVERLAP * len(ops) else None


def _reduction_depths(ops: list[ir.Operation]) -> dict[ir.Operation, int]:
    """For each op, the most reductions that any path to it and with it goes through."""
    depths: dict[ir.Operation, int] = {}
    for op in ops:
        before = max((depths[producer] for producer in operand_ops(op)), default=0)
        depths[op] = before + (kind(op) is Kind.REDUCTION)
    return depths
