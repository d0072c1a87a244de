"""Pass `join-products`: on a GPU, a matrix is multiplied by several of few columns at once."""

from collections import defaultdict
from collections.abc import Iterable
from math import prod
from typing import NamedTuple

from torch_mlir import ir

from dovetail.dialects.attributes import RECOMPUTE
from dovetail.dialects.dovetail import ReadOp
from dovetail.dialects.reading import Module, Role, attribute, body, copy_attributes, is_used, made_by, users
from dovetail.dialects.statements.recompute import SAVED_POLICIES, is_pinned, recompute_policy
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.types import tensor_info, torch_type, with_shape
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.constants import constant, integers
from dovetail.passes.rewriting.permutations import PERMUTE, permuted
from dovetail.passes.rewriting.rules import create, shape
from dovetail.passes.rewriting.slices import Slice
from dovetail.passes.rewriting.sums import with_sizes

_MM = "torch.aten.mm"
_VIEW = "torch.aten.view"
_FEWEST_ROWS = 2_048
"""Of a product for which a copy of the weights costs little."""
_MOST_NUMBERS = 1 << 23
"""Of a product that leaves parts of a GPU idle, for it is few tiles of the library's."""


class JoinProductsPass(Pass, name="join-products", runs_at="joint"):
    """Multiplies a matrix of many rows by several weights at once, of float32 on GPUs: one product, and slices of it.

    A library cuts a product in tiles, and the last tiles leave much of a GPU idle where there are few in all: queries,
    keys and values of attention, gates of a network. Joining the weights copies them. In half precision that costs what
    it saves, as it does where products are large.

    Before:  `%1 = mm %x, (permute %v); %2 = mm %x, (permute %w)` of `[4096,768]` and `[384,768]`
    After:   `%p = mm %x, (permute (cat [%v, %w], 0)); %1 = slice %p, 1, 0, 384; %2 = slice %p, 1, 384, 768`
    """

    def run(self, module: ir.Module) -> bool:
        if device_type(module) == "cpu":
            return False
        is_changed = False
        for function_op in Module(module).of(Role.JOINT).values():
            for products in _products(body(function_op)):
                with ir.InsertionPoint(products[0]), products[0].location:
                    _join(products)
                is_changed = True
        return is_changed


def _products(ops: Iterable[ir.Operation]) -> list[list[ir.Operation]]:
    """Those of one matrix, two or more, that the user's checkpointing treats alike."""
    found: dict[tuple[ir.Value, ir.Attribute | None], list[ir.Operation]] = defaultdict(list)
    for op in ops:
        weight = _weight(op) if op.name == _MM and _is_small(op) else None
        products = found[op.operands[0], attribute(op, RECOMPUTE)] if weight is not None else []
        if weight is not None and (not products or weight.owner.is_before_in_block(products[0])):
            products.append(op)
    return [products for products in found.values() if len(products) > 1]


def _is_small(op: ir.Operation) -> bool:
    """Whether it is a product of float32 that gains more than a copy of its weight costs, and may be another op's."""
    info = tensor_info(op.results[0].type)
    if info is None or not info.is_static or info.dtype != "float32" or is_pinned(op):
        return False
    return info.shape[0] >= _FEWEST_ROWS and info.numel <= _MOST_NUMBERS and recompute_policy(op) not in SAVED_POLICIES


def _weight(op: ir.Operation) -> ir.Value | None:
    """The matrix that `op` multiplies by turned, an argument as it was at first; None for another one."""
    turned = made_by(op.operands[1], PERMUTE)
    if turned is None or integers(turned.operands[1]) != (1, 0):
        return None
    return turned.operands[0] if made_by(turned.operands[0], ReadOp.OPERATION_NAME) else None


def _join(products: list[ir.Operation]) -> None:
    """Replaces `products` by slices of one, in place of the first."""
    source, first = products[0].operands[0], products[0].results[0]
    weights = [weight for weight in map(_weight, products) if weight is not None]
    counts = [shape(weight)[0] for weight in weights]
    sizes = [sum(counts), shape(weights[0])[1]]
    listed = create(LIST, weights, torch_type("list<vtensor>"))
    joined = create("torch.aten.cat", [listed, constant(0)], with_shape(weights[0].type, sizes))
    turned = permuted(joined, sizes, (1, 0))
    product = create(_MM, [source, turned], with_shape(first.type, [shape(first)[0], sizes[0]]))
    starts = [sum(counts[:index]) for index in range(len(counts))]
    copy_attributes(products[0], joined.owner, RECOMPUTE)
    copy_attributes(products[0], product.owner, RECOMPUTE)
    heads = _heads(products)
    whole = product if heads is None else with_sizes(product, [*heads.before, sizes[0] // heads.width, heads.width])
    for op, start, count in zip(products, starts, counts, strict=True):
        if heads is None:
            op.results[0].replace_all_uses_with(Slice(product, 1, start, count, 1).build())
        else:
            part = Slice(whole, len(heads.before), start // heads.width, count // heads.width, 1).build()
            for view in users(*op.results):
                view.results[0].replace_all_uses_with(part)
                view.erase()
    for op in products:
        turn = op.operands[1].owner
        op.erase()
        if not is_used(*turn.results):
            turn.erase()


class _Heads(NamedTuple):
    """How all products are seen: rows in sizes `before`, columns in heads of some `width`."""

    before: tuple[int, ...]
    width: int


def _heads(products: list[ir.Operation]) -> _Heads | None:
    """None where they are seen as they are, or not alike: a slice of columns is no tensor of heads."""
    found = set[_Heads | None]()
    for op in products:
        for user in users(*op.results):
            seen = shape(user.results[0]) if user.name == _VIEW else ()
            rows, columns = shape(op.results[0])
            is_cut = len(seen) > 2 and prod(seen[:-2]) == rows and seen[-2] * seen[-1] == columns
            found.add(_Heads(seen[:-2], seen[-1]) if is_cut else None)
    return next(iter(found)) if len(found) == 1 else None
