"""Pass `fold-row-sums`: on a GPU, rows that stand alone are added to a product instead of to zeros."""

from torch_mlir import ir

from dovetail.dialects.reading import Module, Role, body, made_by, producer, users
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.numbers import number
from dovetail.dialects.torch_facts.ops import aten_name
from dovetail.dialects.torch_facts.types import tensor_info
from dovetail.passes.base import Pass
from dovetail.passes.cleanup.fold_indices import counted
from dovetail.passes.rewriting.constants import integer
from dovetail.passes.rewriting.slices import Slice, slice_of

_ADD = "torch.aten.add.Tensor"
_MM = "torch.aten.mm"


class FoldRowSumsPass(Pass, name="fold-row-sums", runs_at="joint"):
    """Adds to a product the rows that are added to zeros, which are added to the product then.

    A table that is tied, as of a model's words, has two gradients: a product as large as the table, and rows for those
    words that there were. Zeros, and a sum as large as the table, move five times its memory. Each row must be added
    once, the others of its place being zeros, as gradients of embeddings on a GPU are: else it is rounded more often.

    Before:  `%1 = index_add (full 0), 0, %i, %rows; %2 = add (mm %x, %y), %1`
    After:   `%2 = index_add (mm %x, %y), 0, %i, %rows`
    """

    def run(self, module: ir.Module) -> bool:
        if device_type(module) == "cpu":
            return False
        is_changed = False
        for function_op in Module(module).of(Role.JOINT).values():
            for op in body(function_op):
                rows = _rows(op) if op.name == _ADD and integer(op.operands[2]) == 1 else None
                if rows is not None:
                    _fold(op, rows)
                    is_changed = True
        return is_changed


def _rows(op: ir.Operation) -> ir.Operation | None:
    """What adds rows to zeros, where `op` adds that to a product; neither is anything else's."""
    one, other = list(op.operands)[:2]
    for value, product in ((one, other), (other, one)):
        rows = _added_to_zeros(value)
        is_alone = users(value) == users(product) == [op] and value.type == product.type
        if (
            rows is not None
            and is_alone
            and made_by(product, _MM)
            and _are_added_once(rows.operands[2], rows.operands[3])
        ):
            return rows
    return None


def _added_to_zeros(value: ir.Value) -> ir.Operation | None:
    """The op that gives `value`, if it adds rows, along the first dimension, to zeros: none, one or several to each."""
    op = producer(value)
    if op is None or aten_name(op) != "aten.index_add.default":
        return None
    dim, alpha = integer(op.operands[1]), number(op.operands[4])
    filled = made_by(op.operands[0], "torch.aten.full")
    return op if (dim, alpha) == (0, 1) and filled is not None and number(filled.operands[1]) == 0 else None


def _are_added_once(index: ir.Value, source: ir.Value) -> bool:
    """Whether of the rows of `source` for one number of `index` all but one are zeros.

    They are two sums, added up: each was added to zeros at one of the places in `index` where this number stands.
    """
    total = made_by(source, _ADD)
    halves = [slice_of(each) for each in list(total.operands)[:2]] if total else []
    info, first = tensor_info(index.type), halves[0] if halves else None
    if info is None or first is None or len(info.shape) != 1:
        return False
    count, sums = info.numel, _added_to_zeros(first.base)
    are_halves = halves == [Slice(first.base, 0, start, count, 1) for start in (0, count)]
    joined = made_by(sums.operands[2], "torch.aten.cat") if sums and are_halves else None
    listed = made_by(joined.operands[0], LIST) if joined else None
    if listed is None or len(listed.operands) != 2:
        return False
    place, other = listed.operands
    shifted = made_by(other, "torch.aten.add.Scalar")
    is_shifted = shifted is not None and shifted.operands[0] == place and integer(shifted.operands[1]) == count
    return is_shifted and _is_one_place(place, index)


def _is_one_place(value: ir.Value, index: ir.Value) -> bool:
    """Whether `value` is, for each number of `index`, one of the places where it stands there, the same for all."""
    read = made_by(value, "torch.aten.gather")
    written = made_by(read.operands[0], "torch.aten.scatter.src") if read else None
    if read is None or written is None or (integer(read.operands[1]), integer(written.operands[1])) != (0, 0):
        return False
    return read.operands[2] == written.operands[2] == index and counted(written.operands[3]) is not None


def _fold(op: ir.Operation, rows: ir.Operation) -> None:
    product = op.operands[1] if op.operands[0] == rows.results[0] else op.operands[0]
    with ir.InsertionPoint(op):
        added = rows.clone().operation
    added.operands[0] = product
    op.results[0].replace_all_uses_with(added.results[0])
    op.erase()
    rows.erase()
