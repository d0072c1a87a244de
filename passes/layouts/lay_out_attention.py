"""Pass `lay-out-attention`: regions take attention's gradients as its kernel lays them out."""

from torch_mlir import ir

from dovetail.dialects.attributes import SHOWS_ROWS
from dovetail.dialects.reading import Module, body
from dovetail.dialects.sizes.symbols import known_sizes
from dovetail.dialects.torch_facts.ops import row
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.transposition import reordered
from dovetail.dialects.torch_facts.types import is_value_type
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.permutations import inverse, permuted


class LayOutAttentionPass(Pass, name="lay-out-attention", runs_at="joint"):
    """Has regions take what attention's backward gives in the order in which that lies in memory.

    Regions take tensors row by row, and this kernel writes heads beside each other, whatever it is given (`order` of
    its row): its gradients would be copied. The host shows them in rows, the region reads them as it wants.

    Before:  `%1:3 = attention_backward ...; %2 = mul %1#0, %cosine`
    After:   `%1:3 = attention_backward ...; %3 = permute %1#0, [0, 2, 1, 3] {dovetail.shows_rows};
             %4 = permute %3, [0, 2, 1, 3]; %2 = mul %4, %cosine`
    """

    def run(self, module: ir.Module) -> bool:
        found = [op for op in body(Module(module).joint) if row(op).order]
        shown = [_show_rows(op, result, row(op).order) for op in found for result in op.results]
        return any(shown)


def _show_rows(op: ir.Operation, result: ir.Value, order: Sizes) -> bool:
    """Has all that uses `result` read it through its rows; returns whether anything does."""
    sizes, uses = known_sizes(result) if is_value_type(result.type) else None, list(result.uses)
    if sizes is None or len(sizes) != len(order) or not uses:
        return False
    with op.location, ir.InsertionPoint.after(op):
        rows = permuted(result, sizes, order)
        rows.owner.attributes[SHOWS_ROWS] = ir.UnitAttr.get()
        shown = permuted(rows, [sizes[dim] for dim in order], inverse(order))
    for use in uses:
        user = use.owner.operation
        if reordered(user) == order:
            user.results[0].replace_all_uses_with(rows)
            user.erase()
        else:
            user.operands[use.operand_number] = shown
    return True
