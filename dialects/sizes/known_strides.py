"""What is known of how refs of open sizes lie in memory: whether they surely lie row by row."""

from collections.abc import Iterable, Sequence
from math import prod

from torch_mlir import ir

from dovetail.dialects.attributes import STRIDES, SYMBOL
from dovetail.dialects.dovetail.ops.own import OwnOp
from dovetail.dialects.dovetail.types import RefType
from dovetail.dialects.reading import attribute, fact_of, made_by, producer
from dovetail.dialects.sizes.symbols import KnownSize, known_sizes

_MUL = "torch.aten.mul.int"


def lies_in_rows(ref: ir.Value) -> bool:
    """Whether the memory of `ref` surely lies row by row: its strides are equal expressions to those of its sizes.

    One without elements may have other strides, by which nothing is read or written.
    """
    type_ = RefType(ref.type)
    if type_.is_static:
        return type_.is_row_major
    sizes, strides = _lying(ref)
    if sizes is None or strides is None:
        return False
    return all(_factors([step]) == _factors(sizes[dim + 1 :]) for dim, step in enumerate(strides))


def order_in_memory(ref: ir.Value) -> tuple[int, ...] | None:
    """The dimensions of an argument or of what is handed out, from the outermost one in memory to the innermost.

    None where it is not surely dense: each stride is the product of the sizes further in.
    """
    sizes, strides = _lying(ref)
    return None if sizes is None or strides is None else dense_order(sizes, strides)


def dense_order(sizes: Sequence[KnownSize], strides: Sequence[KnownSize]) -> tuple[int, ...] | None:
    """The dimensions of a tensor of `sizes` and `strides`, likewise."""
    order: list[int] = []
    left = list(range(len(sizes)))
    while left:
        inner = _factors([sizes[dim] for dim in order])
        found = [dim for dim in left if _factors([strides[dim]]) == inner]
        single = [dim for dim in found if sizes[dim] == 1]
        if not found or (len(found) > 1 and not single):
            return None
        order.insert(0, (single or found)[-1])
        left.remove(order[0])
    return tuple(order)


def _lying(ref: ir.Value) -> tuple[tuple[KnownSize, ...] | None, list[KnownSize] | None]:
    """The sizes and the strides."""
    own = made_by(ref, OwnOp.OPERATION_NAME)
    return known_sizes(ref if own is None else own.operands[0]), _of_argument(ref) if own is None else _of_owned(own)


def _of_argument(ref: ir.Value) -> list[KnownSize] | None:
    """The strides of an argument, by its type or what is stated of it; None where some are not known."""
    known = RefType(ref.type).strides
    if producer(ref) is not None or None not in known:
        return None if None in known else [step for step in known if step is not None]
    stated = fact_of(ref, STRIDES)
    return list(stated.value.results) if isinstance(stated, ir.AffineMapAttr) else None


def _of_owned(own: ir.Operation) -> list[KnownSize] | None:
    numbers = iter([_expression(operand) for operand in own.operands[1:]])
    found = [next(numbers) if step is None else step for step in RefType(own.results[0].type).strides]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else None


def _expression(number: ir.Value) -> KnownSize | None:
    """What a number is by the symbols, None where it is no product of them."""
    owner = producer(number)
    if owner is None:
        symbol = fact_of(number, SYMBOL)
    elif owner.name == "torch.constant.int":
        return ir.IntegerAttr(owner.attributes["value"]).value
    elif owner.name == _MUL:
        left, right = map(_expression, owner.operands)
        return None if left is None or right is None else left * right
    else:
        symbol = attribute(owner, SYMBOL)
    return None if symbol is None else ir.AffineExpr.get_symbol(ir.IntegerAttr(symbol).value, number.type.context)


def _factors(sizes: Iterable[KnownSize]) -> tuple[int, list[str]]:
    """The product of `sizes`, equal for equal products: MLIR keeps `(s0 * s1) * s2` and `s0 * (s1 * s2)` apart."""
    numbers, others, pending = [], [], list(sizes)
    while pending:
        size = pending.pop()
        match size if isinstance(size, int) else size.maybe_downcast():
            case int() as number:
                numbers.append(number)
            case ir.AffineConstantExpr() as constant:
                numbers.append(constant.value)
            case ir.AffineMulExpr() as product:
                pending += [product.lhs, product.rhs]
            case other:
                others.append(str(other))
    return prod(numbers), sorted(others)
