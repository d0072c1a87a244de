"""Puts our own code into the text of regions: loops of elementary functions, which IREE fuses like any other.

And what keeps it from fusing a transposition with what reads it.
"""

import re
from collections.abc import Callable
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from dovetail.backends.elementary.functions import FUNCTIONS
from dovetail.backends.elementary.scalar import Scalar
from dovetail.dialects.context import make_context
from dovetail.dialects.reading import made_by, producer
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.transposition import is_transposition
from dovetail.dialects.torch_facts.types import TensorInfo, require_tensor_info

_FLOATS = {"float32": ir.F32Type, "float16": ir.F16Type, "bfloat16": ir.BF16Type}  # what our own code computes
_UNSIGNED = ("bool", "uint8")
_PRODUCT = "torch.aten.mul.Tensor"
_PRODUCTS = (_PRODUCT, "torch.aten.mul.Scalar")
_DIFFERENCE = "torch.aten.sub.Tensor"
_EXPONENTIAL = "torch.aten.exp"
_MAY_TRANSPOSE = re.compile(r"torch\.aten\.(permute|transpose|t)\b")

_LONGEST_ROW = 12288
"""Elements of a row of which two lie on the stack, of 128 KiB."""

_TILE = 64
"""Elements of float32 that IREE computes at once."""

_MOST_ROWS = 32
"""Rows of one tile; of others, their largest divisor below it."""


def with_own_functions(text: str) -> str:
    """`text`, in the torch dialect, with our own code for what it has of `FUNCTIONS` in float32 and half precision.

    What is half as precise, and of whole numbers, is computed in float32, as eager does. Float64 stays IREE's.

    A loop that changes nothing stands between products and their sum. IREE would make one contraction of them, which it
    unrolls; it should only where a factor lacks a dimension, as in products of matrices.

    A product is rounded before something is subtracted from it for an exponential, as softmax does with the largest of
    a row: unrounded, a large one less itself would be far from 0.
    """
    if not any(name in text for name in (*FUNCTIONS, _PRODUCT)) and _MAY_TRANSPOSE.search(text) is None:
        return text
    context = make_context()
    # IREE's input converts between torch's tensors and MLIR's own by a dialect that the bindings don't know.
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        module = ir.Module.parse(text)
        for function in module.body.operations:
            ops = [each.operation for each in function.body.blocks[0].operations]
            for op in [each for each in ops if _adds_products(each)]:
                _keep_apart(op)
            for op in [each for each in ops if _takes_from_product(each)]:
                _round(op)
            for op in [each for each in ops if is_transposition(each)]:
                _fence(op.results[0])
            for op in [each for each in ops if each.name in FUNCTIONS]:
                if require_tensor_info(op.results[0].type).dtype in _FLOATS:
                    _replace(op, FUNCTIONS[op.name])
        return str(module)


def _adds_products(op: ir.Operation) -> bool:
    """Whether `op` reduces floating-point products, or a view of them, of factors that have each dimension."""
    if kind(op) is not Kind.REDUCTION:
        return False
    made = _behind_views(op.operands[0])
    if made is None or made.name != _PRODUCT:
        return False
    product, *factors = (require_tensor_info(value.type) for value in (made.results[0], *made.operands))
    return product.dtype in (*_FLOATS, "float64") and all(each.shape == product.shape for each in factors)


def _keep_apart(op: ir.Operation) -> None:
    """Has `op` add up each number with its own sign, which LLVM drops again."""
    _go_through(op, lambda number: abs(number).with_sign_of(number))


def _behind_views(value: ir.Value) -> ir.Operation | None:
    """The op that computes what `value` is, or is a view of; None for an argument."""
    made = producer(value)
    while made is not None and kind(made) is Kind.VIEW:
        made = producer(made.operands[0])
    return made


def _takes_from_product(op: ir.Operation) -> bool:
    """Whether `op` subtracts from a product in float32 or float64, for an exponential."""
    if op.name != _DIFFERENCE or not any(use.owner.name == _EXPONENTIAL for use in op.results[0].uses):
        return False
    made = _behind_views(op.operands[0])
    in_float = require_tensor_info(op.operands[0].type).dtype in ("float32", "float64")
    return in_float and made is not None and made.name in _PRODUCTS


def _round(op: ir.Operation) -> None:
    """Has `op` subtract from its first operand plus zero: what is rounded may be that product and sum."""
    _go_through(op, lambda number: number + 0.0)


def _go_through(op: ir.Operation, function: Callable[[Scalar], Scalar]) -> None:
    """Has `op` take `function` of each number of its first operand, which changes none of them."""
    operand = op.operands[0]
    info = require_tensor_info(operand.type)
    with op.location, ir.InsertionPoint(op):
        elements = _converted("to", operand, ir.RankedTensorType.get(info.shape, _element(info)))
        [same] = _loop(elements, info, _element(info), function, None)
        op.operands[0] = _converted("from", same, operand.type)


def _replace(op: ir.Operation, function: Callable[[Scalar], Scalar]) -> None:
    operand, result = op.operands[0], op.results[0]
    source, target = require_tensor_info(operand.type), require_tensor_info(result.type)
    row_sum = _row_sum(result)
    with op.location, ir.InsertionPoint(op):
        elements = _converted("to", operand, ir.RankedTensorType.get(source.shape, _element(source)))
        computed, *sums = _loop(elements, source, _element(target), function, row_sum)
        value = _converted("from", computed, result.type)
        if row_sum is not None:
            row_sum.replace_all_uses_with(_converted("from", sums[0], row_sum.type))
            row_sum.owner.erase()
    result.replace_all_uses_with(value)
    op.erase()


def _fence(transposed: ir.Value) -> None:
    """Has a transposition run by itself, by blocks; a loop with other operands would read it by single elements."""
    info, op = require_tensor_info(transposed.type), transposed.owner
    with op.location, ir.InsertionPoint.after(op):
        elements = _converted("to", transposed, ir.RankedTensorType.get(info.shape, _element(info)))
        barrier = ir.Operation.create("iree_tensor_ext.compute_barrier.end", [elements.type], [elements])
        fenced = _converted("from", barrier.result, transposed.type)
    transposed.replace_all_uses_except(fenced, elements.owner.operation)


def _row_sum(value: ir.Value) -> ir.Value | None:
    """The sum of each row of `value`, of float32, where something else uses `value` too and the code is good.

    The loop over `value` then computes both: IREE would compute each of its elements once for either.
    """
    info, users = require_tensor_info(value.type), [use.owner.operation for use in value.uses]
    if info.dtype != "float32" or len(info.shape) < 2:
        return None
    sums = [user.results[0] for user in users if user.name == "torch.aten.sum.dim_IntList" and _adds_rows(user, info)]
    return sums[0] if _keeps_rows_near(info) and len(sums) == 1 < len(users) else None


def _keeps_rows_near(info: TensorInfo) -> bool:
    """Whether IREE makes good code of a loop over `info`'s elements that sums rows: two of them lie on the stack.

    It takes rows by twos, and tiles of an odd number of rows apart again where vectors don't fill a row. Then it finds
    each row's largest number once for each vector, not once.
    """
    count, length = prod(info.shape[:-1]), info.shape[-1]
    has_even_tiles = count <= _MOST_ROWS or count % _MOST_ROWS == 0
    return length <= _LONGEST_ROW and (length % _TILE == 0 or count % 2 == 1 or has_even_tiles)


def _adds_rows(op: ir.Operation, info: TensorInfo) -> bool:
    """Whether `op` adds up the last dimension of `info`'s alone, which it may keep as one of size 1."""
    rows, result = info.shape[:-1], require_tensor_info(op.results[0].type)
    if not rows or info.shape[-1] == 1 or result.dtype not in ("float32", "float64"):
        return False
    return _dims(op.operands[1]) in ([-1], [len(rows)]) and result.shape in (rows, (*rows, 1))


def _dims(value: ir.Value) -> list[int]:
    """The dimensions that a list names."""
    named = made_by(value, LIST)
    numbers = [] if named is None else [made_by(each, "torch.constant.int") for each in named.operands]
    return [ir.IntegerAttr(op.attributes["value"]).value for op in numbers if op is not None]


def _element(info: TensorInfo) -> ir.Type:
    if info.dtype in _FLOATS:
        return _FLOATS[info.dtype].get()
    if info.dtype == "float64":
        return ir.F64Type.get()
    return ir.IntegerType.get_signless(1 if info.dtype == "bool" else 8 * info.itemsize)


def _converted(which: str, value: ir.Value, type_: ir.Type) -> ir.Value:
    return ir.Operation.create(f"torch_c.{which}_builtin_tensor", [type_], [value]).result


def _loop(
    elements: ir.Value,
    info: TensorInfo,
    element: ir.Type,
    function: Callable[[Scalar], Scalar],
    row_sum: ir.Value | None,
) -> list[ir.Value]:
    """A tensor of type `element`: `function` of each of `elements`, which `info` describes.

    If there is a `row_sum`, a second one is the sum of each row, in its type.
    """
    identity = ir.AffineMap.get_identity(len(info.shape))
    results, maps, kinds = [tensor.empty(info.shape, element)], [identity, identity], ["parallel"] * len(info.shape)
    if row_sum is not None:
        kinds[-1] = "reduction"
        maps.append(identity.get_submap(list(range(len(info.shape) - 1))))
        results.append(_zeros(info.shape[:-1], _sum_type(row_sum)))
    loop = linalg.GenericOp(
        [each.type for each in results],
        [elements],
        results,
        ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps]),
        ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in kinds]),
    )
    block = loop.regions[0].blocks.append(_element(info), *(_element_type(each) for each in results))
    with ir.InsertionPoint(block):
        value = function(Scalar(_single(block.arguments[0], info.dtype))).value
        yielded = [value if value.type == element else arith.TruncFOp(element, value).result]
        for total in block.arguments[2:]:
            term = value if total.type == value.type else arith.ExtFOp(total.type, value).result
            yielded.append(arith.AddFOp(total, term).result)
        linalg.YieldOp(yielded)
    computed = list(loop.results)
    if row_sum is not None and len(require_tensor_info(row_sum.type).shape) == len(info.shape):
        computed[1] = _with_last_dimension(computed[1])
    return computed


def _sum_type(row_sum: ir.Value) -> ir.Type:
    return ir.F64Type.get() if require_tensor_info(row_sum.type).dtype == "float64" else ir.F32Type.get()


def _zeros(sizes: Sizes, element: ir.Type) -> ir.Value:
    zero = arith.ConstantOp(element, ir.FloatAttr.get(element, 0.0)).result
    return linalg.fill(zero, outs=[tensor.empty(sizes, element)])


def _with_last_dimension(value: ir.Value) -> ir.Value:
    """`value` with a last dimension of size 1."""
    type_ = ir.RankedTensorType(value.type)
    rank = type_.rank
    groups = [[dim] for dim in range(rank - 1)] + [[rank - 1, rank]]
    sizes = [*type_.shape, 1]
    return tensor.expand_shape(ir.RankedTensorType.get(sizes, type_.element_type), value, groups, [], sizes)


def _element_type(value: ir.Value) -> ir.Type:
    return ir.RankedTensorType(value.type).element_type


def _single(value: ir.Value, dtype: str) -> ir.Value:
    """A number of element type `dtype` as float32; one of float64 as it is."""
    single = ir.F32Type.get()
    if dtype in ("float32", "float64"):
        return value
    if dtype in _FLOATS:
        return arith.ExtFOp(single, value).result
    return (arith.UIToFPOp if dtype in _UNSIGNED else arith.SIToFPOp)(single, value).result
