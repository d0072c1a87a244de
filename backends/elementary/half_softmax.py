"""Softmaxes that are rounded to half precision, as GPUs compute them in the time that memory takes.

ATen computes them in float32 and rounds once. Beside that rounding an exponential that is right to 2^-17, or a product
by a reciprocal in place of a quotient, changes nothing that counts.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, math, tensor

from dovetail.backends.elementary.loop import (
    element_type,
    from_builtin,
    iterators,
    loop,
    sizes_of,
    to_builtin,
    with_last_dimension,
)
from dovetail.backends.elementary.row_sums import listed_dims
from dovetail.backends.elementary.scalar import Scalar
from dovetail.dialects.reading import body, made_by, users
from dovetail.dialects.torch_facts.element_types import HALF_PRECISION
from dovetail.dialects.torch_facts.numbers import number
from dovetail.dialects.torch_facts.types import require_shaped_info

EXP = "torch.aten.exp"
_LOG2_E = 1.44269504
_DIV, _LOG, _SUB, _SUM = (f"torch.aten.{name}" for name in ("div.Tensor", "log", "sub.Tensor", "sum.dim_IntList"))
_CONVERSIONS = ("torch.aten._to_copy", "torch.prims.convert_element_type")


def approximate_softmaxes(function: ir.Operation) -> None:
    """Says of each such softmax of `function` that its powers may be approximated (`afn`), and has it multiply.

    One is recognized whole: `exp(x - amax(x))`, at most 1, which nothing takes but its sum along rows, of which either
    the logarithm is subtracted from what is rounded then, or quotients by the sum are rounded at once.
    """
    for op in [op for op in body(function) if op.name == EXP]:
        found = _Softmax.of(op)
        if found is not None:
            found.approximate()


@dataclass(frozen=True)
class _Softmax:
    """Exponentials `op` with their `total`, and the `quotients` by that; none of them where its logarithm is taken."""

    op: ir.Operation
    total: ir.Operation
    quotients: list[ir.Operation]

    @classmethod
    def of(cls, op: ir.Operation) -> "_Softmax | None":
        power, less = op.results[0], made_by(op.operands[0], _SUB)
        largest = None if less is None else made_by(less.operands[1], "torch.aten.amax")
        if less is None or largest is None or number(less.operands[2]) != 1 or not _is_known_float32(power):
            return None
        quotients = [user for user in users(power) if user.name == _DIV]
        others = [user for user in users(power) if user.name != _DIV]
        if len(others) != 1 or others[0].name != _SUM or not _keeps_rows(others[0]):
            return None
        [total] = others
        is_largest = largest.operands[0] == less.operands[0]
        is_kept = number(largest.operands[2]) is True
        if not is_largest or not is_kept or listed_dims(largest) != listed_dims(total):
            return None
        made, taking = total.results[0], users(total.results[0])
        is_divided = all(_is_quotient(user, power, made) for user in [*quotients, *taking])
        is_subtracted = all(_is_logarithm(user, largest.results[0]) for user in taking)
        return cls(op, total, quotients) if taking and (is_divided or (is_subtracted and not quotients)) else None

    def approximate(self) -> None:
        """Puts loops in the place of both.

        Powers below 2^-126 are taken for 0. In a sum of at least 1 they don't count; where they are divided by it, all
        are larger by 2^8, so that numbers of bfloat16 below 2^-126 come out, too.
        """
        shift = 8.0 if self.quotients else 0.0
        for quotient in self.quotients:
            _multiply(quotient)
        powers = _powers(self.op, shift)
        with self.total.location, ir.InsertionPoint(self.total):
            summed = from_builtin(_row_sums(to_builtin(powers)), self.total.results[0].type)
        self.total.results[0].replace_all_uses_with(summed)
        self.total.erase()


def _is_known_float32(value: ir.Value) -> bool:
    info = require_shaped_info(value.type)
    return info.dtype == "float32" and info.is_static


def _keeps_rows(total: ir.Operation) -> bool:
    """Whether `total` adds up rows in float32, and keeps a dimension of size 1 for them."""
    rank = len(require_shaped_info(total.operands[0].type).shape)
    is_kept = number(total.operands[2]) is True
    return is_kept and listed_dims(total) == [rank - 1] and _is_known_float32(total.results[0])


def _is_quotient(op: ir.Operation, power: ir.Value, total: ir.Value) -> bool:
    return op.name == _DIV and list(op.operands) == [power, total] and _is_rounded(op)


def _is_logarithm(op: ir.Operation, largest: ir.Value) -> bool:
    """Whether `op` is one that is subtracted, at once, from what is less `largest`, and rounded."""
    return op.name == _LOG and all(_is_subtracted(user, op.results[0], largest) for user in users(op.results[0]))


def _is_subtracted(op: ir.Operation, value: ir.Value, largest: ir.Value) -> bool:
    if op.name != _SUB or op.operands[1] != value or number(op.operands[2]) != 1:
        return False
    less = made_by(op.operands[0], _SUB)
    return less is not None and less.operands[1] == largest and number(less.operands[2]) == 1 and _is_rounded(op)


def _is_rounded(op: ir.Operation) -> bool:
    """Whether all that takes `op` is half precision of it."""
    return all(
        user.name in _CONVERSIONS and require_shaped_info(user.results[0].type).dtype in HALF_PRECISION
        for user in users(op.results[0])
    )


def _multiply(quotient: ir.Operation) -> None:
    """Multiplies by the reciprocal of what `quotient` divides by, of which a row has one."""
    power, total = quotient.operands
    with quotient.location, ir.InsertionPoint(quotient):
        factor = ir.Operation.create("torch.aten.reciprocal", results=[total.type], operands=[total]).result
        product = ir.Operation.create(
            "torch.aten.mul.Tensor", results=[quotient.results[0].type], operands=[power, factor]
        )
    quotient.results[0].replace_all_uses_with(product.result)
    quotient.erase()


def _powers(op: ir.Operation, shift: float) -> ir.Value:
    """Puts a loop of approximate powers of two in the place of `op`, its exponentials, each times `2 ** shift`.

    Of exponentials IREE would make a softmax again.
    """
    value = op.operands[0]
    info = require_shaped_info(value.type)
    flags = ir.Attribute.parse("#arith.fastmath<afn>")

    def power(x: Scalar) -> Scalar:
        exponent = math.FmaOp(x.value, x.constant(_LOG2_E).value, x.constant(shift).value)
        return Scalar(math.Exp2Op(exponent.result, fastmath=flags).result)

    with op.location, ir.InsertionPoint(op):
        [computed] = loop(to_builtin(value), info, element_type(info), power)
        made = from_builtin(computed, op.results[0].type)
    op.results[0].replace_all_uses_with(made)
    op.erase()
    return made


def _row_sums(elements: ir.Value) -> ir.Value:
    """The sum of each row of `elements`, none of which is -0, so that sums start from that: nothing is added to it."""
    sizes = sizes_of(elements)
    f32, identity = ir.F32Type.get(), ir.AffineMap.get_identity(len(sizes))
    start = arith.ConstantOp(f32, ir.FloatAttr.get(f32, -0.0)).result
    sums = linalg.fill(start, outs=[tensor.empty(sizes[:-1], f32)])
    maps = [identity, identity.get_submap(list(range(len(sizes) - 1)))]
    made = linalg.GenericOp(
        [sums.type],
        [elements],
        [sums],
        ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps]),
        iterators([*["parallel"] * (len(sizes) - 1), "reduction"]),
    )
    block = made.regions[0].blocks.append(f32, f32)
    with ir.InsertionPoint(block):
        linalg.YieldOp([arith.AddFOp(*block.arguments).result])
    return with_last_dimension(made.results[0])
