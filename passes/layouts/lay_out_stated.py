"""Pass `lay-out-stated`: regions of a GPU write what a call takes in the layout that the call states."""

from torch_mlir import ir

from dovetail.dialects.attributes import RECOMPUTE
from dovetail.dialects.building.cloning import constant_none
from dovetail.dialects.memory.roots import memory_path, memory_root
from dovetail.dialects.reading import Module, attribute, body, producer
from dovetail.dialects.sizes.known_strides import dense_order
from dovetail.dialects.statements.operand_strides import stated_strides
from dovetail.dialects.statements.recompute import is_pinned
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.ops import row
from dovetail.dialects.torch_facts.row import IN_REGIONS
from dovetail.dialects.torch_facts.sizes import Sizes, row_major
from dovetail.dialects.torch_facts.transposition import SMALLEST
from dovetail.dialects.torch_facts.types import require_tensor_info, tensor_info
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.permutations import inverse, keeps_order, permuted
from dovetail.passes.rewriting.rules import create


class LayOutStatedPass(Pass, name="lay-out-stated", runs_at="joint"):
    """Has regions of a GPU lay out large tensors as an op states their strides, where the host would copy them.

    Attention states how eager gives it queries: heads beside each other, where a region would write them one after the
    other; and grouped keys and values: repeated for each head, which as a view of what a library gives is a copy. What
    the forward and the backward take is one tensor, laid out once.

    Before:  `%1 = mul %x, %y; attention %1, ... {dovetail.strides = [[393216, 64, 768, 1], ...]}`
    After:   `%1 = mul %x, %y; %2 = permute %1, [0, 2, 1, 3]; %3 = clone %2; %4 = permute %3, [0, 2, 1, 3];
             attention %4, ... {dovetail.strides = [[393216, 64, 768, 1], ...]}`
    """

    def run(self, module: ir.Module) -> bool:
        if device_type(module) != "cuda":
            return False
        laid_out: dict[tuple[ir.Value, Sizes], ir.Value] = {}
        for op in body(Module(module).joint):
            for number, stated in enumerate(stated_strides(op)):
                value = op.operands[number]
                order = _order(value, stated)
                if order is None:
                    continue
                if (value, order) not in laid_out:
                    laid_out[value, order] = _laid_out(op, value, order)
                op.operands[number] = laid_out[value, order]
        return bool(laid_out)


def _order(value: ir.Value, stated: ir.Attribute | None) -> Sizes | None:
    """The dimensions of `value`, from the outermost one in memory on, if it is stated to lie otherwise than it would.

    None of what is not dense, of what is small, whose copy takes less than another kernel of a region, and of open
    sizes: of those the host makes what regions would read.
    """
    info = tensor_info(value.type)
    if not isinstance(stated, ir.DenseI64ArrayAttr) or info is None or info.numel < SMALLEST:
        return None
    order = dense_order(info.shape, list(stated))
    return order if order is not None and _is_laid_out_anew(value, tuple(stated)) else None


def _is_laid_out_anew(value: ir.Value, strides: Sizes) -> bool:
    """Whether the host would copy `value`, which regions or products compute, to show it in `strides`."""
    computing, root = producer(memory_root(value)), tensor_info(memory_root(value).type)
    if computing is None or root is None or is_pinned(computing):
        return False
    if not row(computing).is_row_major and row(computing).kind not in IN_REGIONS:
        return False
    shown = row_major(root.shape)
    for op in reversed(list(memory_path(value))):
        rule, given, made = row(op).strides, tensor_info(op.operands[0].type), tensor_info(op.results[0].type)
        if rule is None or given is None or made is None:
            return False
        as_view = rule(op, given.shape, shown, made.shape)
        if as_view is None:
            return True
        shown = as_view
    sizes = require_tensor_info(value.type).shape
    return any(size != 1 and step != wanted for size, step, wanted in zip(sizes, shown, strides, strict=True))


def _laid_out(op: ir.Operation, value: ir.Value, order: Sizes) -> ir.Value:
    """Builds `value` as a region writes it in `order`, shown in the order that it has.

    The user's checkpointing decides of it as of what it is made of.
    """
    sizes, policy = require_tensor_info(value.type).shape, attribute(memory_root(value).owner, RECOMPUTE)
    with op.location, ir.InsertionPoint(op):
        given = value if keeps_order(order) else permuted(value, sizes, order)
        made = create("torch.aten.clone", [given, constant_none()], given.type)
        if policy is not None:
            made.owner.attributes[RECOMPUTE] = policy
        return made if keeps_order(order) else permuted(made, [sizes[dim] for dim in order], inverse(order))
