"""Pass `lay-out-attention`: regions take attention's gradients as its kernel lays them out."""

from collections.abc import Sequence
from math import prod

from torch_mlir import ir

from dovetail.dialects.attributes import SHOWS_ROWS
from dovetail.dialects.reading import Module, body, made_by
from dovetail.dialects.sizes.known_strides import dense_order
from dovetail.dialects.sizes.symbols import KnownSize, in_types, known_sizes
from dovetail.dialects.statements.operand_strides import stated_strides
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.ops import row
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.strides import reshape
from dovetail.dialects.torch_facts.transposition import reordered
from dovetail.dialects.torch_facts.types import is_value_type, with_shape
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.permutations import inverse, keeps_order, permuted
from dovetail.passes.rewriting.pointwise import with_known_sizes
from dovetail.passes.rewriting.rules import create


class LayOutAttentionPass(Pass, name="lay-out-attention", runs_at="joint"):
    """Has regions take what attention's backward gives in the order in which that lies in memory.

    Regions take tensors row by row, and such kernels write heads beside each other (`order` of their rows), or each
    gradient as what they are given of it (`lies_as`): gradients would be copied. The host shows them in rows, the
    region reads them as it wants. On a GPU, a view that splits dimensions splits them where they lie, as of heads that
    share a key.

    Before:  `%1:3 = attention_backward ...; %2 = mul %1#0, %cosine`
    After:   `%1:3 = attention_backward ...; %3 = permute %1#0, [0, 2, 1, 3] {dovetail.shows_rows};
             %4 = permute %3, [0, 2, 1, 3]; %2 = mul %4, %cosine`
    """

    def run(self, module: ir.Module) -> bool:
        found = [op for op in body(Module(module).joint) if row(op).order or row(op).lies_as]
        orders = [(op, result, order) for op in found for result, order in zip(op.results, _orders(op), strict=False)]
        is_on_gpu = device_type(module) == "cuda"
        shown = [_show_rows(op, result, order, is_on_gpu) for op, result, order in orders if order is not None]
        return any(shown)


def _orders(op: ir.Operation) -> list[Sizes | None]:
    """The dimensions of each result of `op`, from the outermost one in memory on; None where that is not known."""
    facts = row(op)
    if facts.order:
        return [facts.order] * len(op.results)
    stated = stated_strides(op)
    return [_order_of(op.operands[position], stated[position]) for position in facts.lies_as]


def _order_of(value: ir.Value, stated: ir.Attribute | None) -> Sizes | None:
    """The order of the strides that are stated of `value`, also if it lies in a part of larger memory."""
    if isinstance(stated, ir.DenseI64ArrayAttr):
        strides = list(stated)
        return tuple(sorted(range(len(strides)), key=lambda dim: -strides[dim])) if all(strides) else None
    sizes = known_sizes(value)
    if not isinstance(stated, ir.AffineMapAttr) or sizes is None:
        return None
    return dense_order(sizes, list(stated.value.results))


def _show_rows(op: ir.Operation, result: ir.Value, order: Sizes, is_on_gpu: bool) -> bool:
    """Has all that uses `result` read it through its rows; returns whether anything does."""
    sizes, uses = known_sizes(result) if is_value_type(result.type) else None, list(result.uses)
    if sizes is None or len(sizes) != len(order) or keeps_order(order) or not uses:
        return False
    with op.location, ir.InsertionPoint.after(op):
        rows = permuted(result, sizes, order)
        rows.owner.attributes[SHOWS_ROWS] = ir.UnitAttr.get()
        shown = permuted(rows, [sizes[dim] for dim in order], inverse(order))
    for use in uses:
        user = use.owner.operation
        parts = _split(user, sizes) if use.operand_number == 0 and is_on_gpu else None
        if reordered(user) == order:
            user.results[0].replace_all_uses_with(rows)
            user.erase()
        elif parts is not None:
            user.results[0].replace_all_uses_with(_in_parts(user, rows, order, parts))
            user.erase()
        else:
            user.operands[use.operand_number] = shown
    return True


def _split(op: ir.Operation, sizes: Sequence[KnownSize]) -> list[list[int]] | None:
    """Of a view that splits dimensions of a tensor of `sizes`, those of the result for each of them; None of others."""
    made = known_sizes(op.results[0]) if row(op).strides is reshape and made_by(op.operands[1], LIST) else None
    if made is None or len(made) <= len(sizes):
        return None
    parts, left = [], list(range(len(made)))
    for size in sizes:
        part = left[:1]
        while len(part) < len(left) and not _makes(size, [made[dim] for dim in part]):
            part = left[: len(part) + 1]
        parts.append(part)
        left = left[len(part) :]
    fits = all(_makes(size, [made[dim] for dim in part]) for part, size in zip(parts, sizes, strict=True))
    return parts if fits and not left else None


def _makes(size: KnownSize, parts: Sequence[KnownSize]) -> bool:
    """Whether a dimension of `size` has these parts; one of an open size is its only part."""
    known = [part for part in parts if isinstance(part, int)]
    return list(parts) == [size] or (len(known) == len(parts) and prod(known) == size)


def _in_parts(op: ir.Operation, rows: ir.Value, order: Sizes, parts: Sequence[Sequence[int]]) -> ir.Value:
    """What the view `op` shows of a tensor whose `rows` are in `order`: they are split, and permuted then."""
    in_memory = [part for dim in order for part in parts[dim]]
    sizes = known_sizes(op.results[0]) or ()
    split = [sizes[part] for part in in_memory]
    with op.location, ir.InsertionPoint(op):
        listed = create(LIST, [op.operands[1].owner.operands[part] for part in in_memory], op.operands[1].type)
        view = create(op.name, [rows, listed], with_shape(rows.type, in_types(split)))
        return permuted(with_known_sizes(view, split), split, inverse(in_memory))
