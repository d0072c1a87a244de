"""Orders of a tensor's dimensions: permutations built, turned back and put together."""

from collections.abc import Sequence

from torch_mlir import ir

from dovetail.dialects.sizes.symbols import KnownSize, in_types
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.types import with_shape
from dovetail.passes.rewriting.constants import integer_list
from dovetail.passes.rewriting.pointwise import with_known_sizes
from dovetail.passes.rewriting.rules import create

PERMUTE = "torch.aten.permute"


def permuted(value: ir.Value, sizes: Sequence[KnownSize], order: Sequence[int]) -> ir.Value:
    """Builds `value`, a tensor of `sizes`, with its dimensions in `order`."""
    turned = [sizes[dim] for dim in order]
    type_ = with_shape(value.type, in_types(turned))
    return with_known_sizes(create(PERMUTE, [value, integer_list(order)], type_), turned)


def inverse(order: Sequence[int]) -> Sizes:
    """The order that undoes `order`."""
    return tuple(order.index(dim) for dim in range(len(order)))


def composed(first: Sequence[int], then: Sequence[int]) -> Sizes:
    """One order for two, of which `then` takes what `first` makes."""
    return tuple(first[dim] for dim in then)


def keeps_order(order: Sequence[int]) -> bool:
    """Whether nothing moves."""
    return tuple(order) == tuple(range(len(order)))
