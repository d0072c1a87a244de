"""Pass `fold-scatters`: a view that is scattered back, and a view of what was scattered."""

from typing import Any

from torch_mlir import ir

from dovetail.dialects.reading import made_by
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.constants import integer, integers, is_none
from dovetail.passes.rewriting.rules import apply_rules, shape

# Each view by the op that puts it back: the same operands behind the tensors say where.
_VIEWS = ("slice.Tensor", "select.int", "diagonal", "as_strided")
_SCATTER_OF = {f"torch.aten.{view}": f"torch.aten.{view.partition('.')[0]}_scatter" for view in _VIEWS}
_VIEW_OF = {scatter: view for view, scatter in _SCATTER_OF.items()}


class FoldScattersPass(Pass, name="fold-scatters", runs_at="joint"):
    """Takes `view(scatter(x, v))` for `v`, `scatter(x, view(x))` for `x`, and the later of two scatters to one part.

    A scatter is what an update of a view in place becomes: `slice_scatter`, `select_scatter`, `diagonal_scatter` and
    `as_strided_scatter`. Places are equal if the numbers that say where are. None is one of an element twice: ATen
    refuses an `as_strided_scatter` to such.

    Before:  `%1 = diagonal_scatter %x, %v, %p; %2 = diagonal %1, %p; %3 = diagonal_scatter %1, %w, %p`
    After:   `%v` for `%2`; `%3 = diagonal_scatter %x, %w, %p`
    """

    def run(self, module: ir.Module) -> bool:
        return apply_rules(module, dict.fromkeys(_SCATTER_OF, _view) | dict.fromkeys(_VIEW_OF, _scatter))


def _view(op: ir.Operation) -> ir.Value | None:
    scatter, position = made_by(op.operands[0], _SCATTER_OF[op.name]), _position(op)
    if scatter is None or position is None or scatter.operands[1].type != op.results[0].type:
        return None
    return scatter.operands[1] if position == _position(scatter) else None


def _scatter(op: ir.Operation) -> ir.Value | None:
    base, source = list(op.operands)[:2]
    position = _position(op)
    if position is None:
        return None
    view = made_by(source, _VIEW_OF[op.name])
    if view is not None and view.operands[0] == base and _position(view) == position:
        return base
    earlier = made_by(base, op.name)
    if earlier is None or _position(earlier) != position:
        return None
    later = op.clone()
    later.operands[0] = earlier.operands[0]
    return later.result


def _position(op: ir.Operation) -> tuple | None:
    """Where a view or a scatter is, as numbers; None if those are not known."""
    operands = list(op.operands)[2 if op.name in _VIEW_OF else 1 :]
    found: list[Any] = [integers(operand) if integer(operand) is None else integer(operand) for operand in operands]
    if any(value is None and not is_none(each) for value, each in zip(found, operands, strict=True)):
        return None
    rank = len(shape(op.operands[0]))
    match op.name.removesuffix("_scatter"):
        case "torch.aten.diagonal":
            return (found[0], found[1] % rank, found[2] % rank)
        case "torch.aten.select" | "torch.aten.select.int":
            dim = found[0] % rank
            return (dim, found[1] % shape(op.operands[0])[dim])
        case "torch.aten.slice" | "torch.aten.slice.Tensor":
            dim, start, stop, step = found
            return (dim % rank, range(*slice(start, stop, step).indices(shape(op.operands[0])[dim])))
    size, stride, offset = found
    return (size, stride, offset or 0)
