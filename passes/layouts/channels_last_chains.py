"""Chains of convolutions, and of what is computed between them, whose images had better lie channels last."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from torch_mlir import ir

from dovetail.dialects.attributes import GRADIENT_STRIDES
from dovetail.dialects.dovetail import GradientOp, OwnOp, ReadOp
from dovetail.dialects.reading import made_by, users
from dovetail.dialects.sizes.bound_sizes import Range
from dovetail.dialects.sizes.expected import expected_infos
from dovetail.dialects.sizes.known_strides import dense_order, order_in_memory
from dovetail.dialects.torch_facts.types import require_tensor_info
from dovetail.passes.costs.cost_model import CostModel
from dovetail.passes.layouts.channels_last import (
    ORDER,
    Convolution,
    Library,
    computes_elements,
    convolution,
    convolves,
    images_of,
    keeps_rows,
    lasts,
)
from dovetail.passes.placement.open_sizes import ranges_of


@dataclass
class Chain:
    """Ops that are joined by images channels last.

    Attributes:
        ops: by op, in order, the positions of the operands that are such images.
        lasting: the images that they give.
        convolutions: what is known of the convolutions among them.
    """

    ops: dict[ir.Operation, list[int]] = field(default_factory=dict)
    lasting: list[ir.Value] = field(default_factory=list)
    convolutions: list[Convolution] = field(default_factory=list)

    def take(self, other: "Chain") -> None:
        """Adds all of `other`."""
        self.ops |= other.ops
        self.lasting += other.lasting
        self.convolutions += other.convolutions


def chains(ops: Sequence[ir.Operation], library: Library) -> list[Chain]:
    """The chains among the `ops` of a function. A convolution begins one; what computes images of such goes along.

    It does up to the last convolution, pooling or reduction: what comes behind that computes rows of images that it
    reads as they lie.
    """
    ranges = ranges_of(ops[0])
    along = _without_ends(_along(ops, library, ranges))
    found: dict[ir.Value, Chain] = {}
    made: list[Chain] = []
    for op, images in along.items():
        parts = {id(each): each for number in images if (each := found.get(op.operands[number])) is not None}
        chain, *others = sorted(parts.values(), key=lambda each: -len(each.ops)) or [Chain()]
        for other in others:
            chain.take(other)
            found |= dict.fromkeys(other.lasting, chain)
        made = [each for each in made if all(each is not other for other in others)] if others else made
        if not parts:
            made.append(chain)
        known, given = convolution(op, library, ranges), list(filter(lasts, op.results))
        chain.take(Chain({op: images}, given, [known] if known else []))
        found |= dict.fromkeys(given, chain)
    return made


def _along(ops: Sequence[ir.Operation], library: Library, ranges: Mapping[int, Range]) -> dict[ir.Operation, list[int]]:
    """The convolutions, and what goes along with them, in order."""
    along: dict[ir.Operation, list[int]] = {}
    lasting: set[ir.Value] = set()
    for op in ops:
        if not convolves(op) and lasting.isdisjoint(op.operands):
            continue
        images = images_of(op, library, ranges)
        if convolution(op, library, ranges) or any(op.operands[number] in lasting for number in images):
            along[op] = images
            lasting.update(filter(lasts, op.results))
    return along


def _without_ends(along: dict[ir.Operation, list[int]]) -> dict[ir.Operation, list[int]]:
    kept: dict[ir.Operation, list[int]] = {}
    for op, images in reversed(along.items()):
        if not computes_elements(op) or any(each in kept for each in users(*op.results)):
            kept[op] = images
    return dict(reversed(kept.items()))


def pays(chain: Chain, costs: CostModel) -> bool:
    """Whether the library saves more than it costs to copy images where the chain meets rows."""
    lasting = set(chain.lasting)
    taken = {op.operands[number] for op, images in chain.ops.items() for number in images}
    met = {each for each in taken - lasting if not comes_so(each)}
    left = {each for each in lasting if _leaves(each, chain.ops)}
    moved = [info for info in expected_infos(met | left) if not keeps_rows(info.shape, ORDER)]
    saved = sum(each.moved - each.laid_out for each in chain.convolutions)
    return costs.byte * (saved - sum(2 * each.nbytes for each in moved)) > costs.library_call * len(moved)


def _leaves(image: ir.Value, inside: Container[ir.Operation]) -> bool:
    return any(each not in inside and not leaves_so(each) for each in users(image))


def comes_so(image: ir.Value) -> bool:
    """Whether the user gives images channels last."""
    read = made_by(image, ReadOp.OPERATION_NAME)
    return read is not None and order_in_memory(read.operands[0]) == ORDER


def leaves_so(op: ir.Operation) -> bool:
    """Whether the user gets what `op` hands out channels last: a gradient as is stated of it, or like its argument."""
    if GRADIENT_STRIDES in op.attributes:
        strides = list(ir.DenseI64ArrayAttr(op.attributes[GRADIENT_STRIDES]))
        return dense_order(require_tensor_info(op.operands[0].type).shape, strides) == ORDER
    given = (
        op.operands[1:2]
        if op.name == GradientOp.OPERATION_NAME
        else op.results
        if op.name == OwnOp.OPERATION_NAME
        else ()
    )
    return any(order_in_memory(each) == ORDER for each in given)
