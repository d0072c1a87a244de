"""Products of sizes, which the strides of what lies row by row are."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from dovetail.dialects.attributes import RANGE
from dovetail.dialects.reading import fact_of, producer
from dovetail.dialects.torch_facts.sizes import OpenSize

_MUL = "torch.aten.mul.int"


@dataclass(frozen=True)
class Product:
    """`number` times open numbers, each with how often it is a factor; equal for what is surely equal."""

    number: int
    factors: frozenset[tuple[ir.Value, int]]

    def text(self, name: Callable[[ir.Value], str]) -> str:
        """What it is in Python, by the names of values."""
        factors = sorted(text for value, count in self.factors for text in [name(value)] * count)
        return " * ".join([*factors, *([str(self.number)] if self.number != 1 or not factors else [])])


def row_major_products(shape: Sequence[OpenSize], numbers: Iterable[ir.Value]) -> list[Product] | None:
    """The strides of what has these sizes and lies row by row; `numbers` are the open ones, in order.

    None where one may be 0: a step over it is as one over 1.
    """
    found = products([None if size is None else max(size, 1) for size in shape], numbers)
    return None if found is None else [_product(found[dim + 1 :]) for dim in range(len(found))]


def products(stated: Sequence[OpenSize], numbers: Iterable[ir.Value]) -> list[Product] | None:
    """Sizes or strides, of which `numbers` are the open ones, in order; None where an open one may be 0."""
    given = iter(numbers)
    found = [_known(size) if size is not None else _open(next(given)) for size in stated]
    return None if None in found else [product for product in found if product is not None]


def _open(value: ir.Value) -> Product | None:
    owner = producer(value)
    if owner is None:
        stated = fact_of(value, RANGE)
        is_positive = isinstance(stated, ir.DenseI64ArrayAttr) and stated[0] > 0
        return Product(1, frozenset({(value, 1)})) if is_positive else None
    if owner.name == "torch.constant.int":
        number = ir.IntegerAttr(owner.attributes["value"]).value
        return _known(number) if number > 0 else None
    parts = [_open(operand) for operand in owner.operands] if owner.name == _MUL else [None]
    return None if None in parts else _product(part for part in parts if part is not None)


def _known(number: int) -> Product:
    return Product(number, frozenset())


def _product(each: Iterable[Product]) -> Product:
    taken, factors = list(each), Counter[ir.Value]()
    for one in taken:
        factors.update(dict(one.factors))
    return Product(prod(one.number for one in taken), frozenset(factors.items()))
