"""Pass `compose-views`: a view of a view is one view."""

from torch_mlir import ir

from dovetail.dialects.reading import made_by
from dovetail.dialects.torch_facts.reshapes import RESHAPES
from dovetail.dialects.torch_facts.transposition import reordered
from dovetail.dialects.torch_facts.types import is_open_type
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.constants import constant, integer_list
from dovetail.passes.rewriting.permutations import PERMUTE, composed, keeps_order
from dovetail.passes.rewriting.rules import apply_rules, create, is_alike, shape
from dovetail.passes.rewriting.slices import SLICE, slice_of

_TO_SIZES = ("torch.aten.view", "torch.aten._unsafe_view")

_TRANSPOSE, _EXPAND = "torch.aten.transpose.int", "torch.aten.expand"


class ComposeViewsPass(Pass, name="compose-views", runs_at="joint"):
    """Makes one view of a chain of reshapes, of permutations, of expansions or of slices; drops views of everything.

    Of values only: what the user gets is `dovetail.view`, which is replayed step by step and stays as it is. Of tensors
    of open sizes, reshapes to sizes and permutations.

    Before:  `%1 = torch.aten.unsqueeze %0, %a; %2 = torch.aten.unsqueeze %1, %b`
    After:   `%2 = torch.aten.view %0, %sizes`
    """

    def run(self, module: ir.Module) -> bool:
        rules = dict.fromkeys(RESHAPES, _reshape) | dict.fromkeys((PERMUTE, _TRANSPOSE), _permute)
        return apply_rules(module, rules | {_EXPAND: _expand, SLICE: _slice}, takes_open=True)


def _reshape(op: ir.Operation) -> ir.Value | None:
    source, result = op.operands[0], op.results[0]
    inner = made_by(source, *RESHAPES)
    if inner is not None:
        source = inner.operands[0]
    if is_alike(source, result):
        return source
    if inner is None or (is_open_type(result.type) and op.name not in _TO_SIZES):
        return None
    sizes = op.operands[1] if is_open_type(result.type) else integer_list(shape(result))
    return create("torch.aten.view", [source, sizes], result.type)


def _permute(op: ir.Operation) -> ir.Value | None:
    order, source = reordered(op), op.operands[0]
    inner = made_by(source, PERMUTE, _TRANSPOSE)
    inner_order = reordered(inner) if inner is not None else None
    if order is not None and inner is not None and inner_order is not None:
        order, source = composed(inner_order, order), inner.operands[0]
    if order is not None and keeps_order(order):
        return source
    if source == op.operands[0] or order is None:
        return None
    return create(PERMUTE, [source, integer_list(order)], op.results[0].type)


def _expand(op: ir.Operation) -> ir.Value | None:
    source, result = op.operands[0], op.results[0]
    if is_alike(source, result):
        return source
    inner = made_by(source, _EXPAND)
    if inner is None or is_open_type(result.type):
        return None
    return create(_EXPAND, [inner.operands[0], integer_list(shape(result)), constant(False)], result.type)


def _slice(op: ir.Operation) -> ir.Value | None:
    outer = None if is_open_type(op.operands[0].type) else slice_of(op.results[0])
    if outer is None:
        return None
    inner = slice_of(outer.base)
    if inner is not None and inner.dim == outer.dim:
        return inner.sliced(outer).build()
    return outer.base if outer.base.type == op.results[0].type else None
