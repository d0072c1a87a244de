"""Loops over the elements of a tensor, as IREE fuses them, between values of the torch dialect."""

from collections.abc import Callable, Iterable

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from dovetail.backends.elementary.scalar import Scalar
from dovetail.dialects.torch_facts.types import ShapedInfo, require_shaped_info

FLOATS = {"float32": ir.F32Type, "float16": ir.F16Type, "bfloat16": ir.BF16Type}
"""What our own code computes."""

_OPEN = ir.ShapedType.get_dynamic_size()
"""MLIR's mark of a size that is known only when the program runs."""

_UNSIGNED = ("bool", "uint8")


def element_type(info: ShapedInfo) -> ir.Type:
    """MLIR's type of the elements."""
    if info.dtype in FLOATS:
        return FLOATS[info.dtype].get()
    if info.dtype == "float64":
        return ir.F64Type.get()
    return ir.IntegerType.get_signless(1 if info.dtype == "bool" else 8 * info.itemsize)


def to_builtin(value: ir.Value) -> ir.Value:
    """`value`, of the torch dialect, as one of MLIR's own tensors."""
    info = require_shaped_info(value.type)
    sizes = [_OPEN if size is None else size for size in info.shape]
    return _converted("to", value, ir.RankedTensorType.get(sizes, element_type(info)))


def from_builtin(value: ir.Value, type_: ir.Type) -> ir.Value:
    """One of MLIR's own tensors as a value of `type_`, of the torch dialect."""
    return _converted("from", value, type_)


def _converted(which: str, value: ir.Value, type_: ir.Type) -> ir.Value:
    return ir.Operation.create(f"torch_c.{which}_builtin_tensor", [type_], [value]).result


def loop(
    elements: ir.Value,
    info: ShapedInfo,
    element: ir.Type,
    function: Callable[[Scalar], Scalar],
    row_sum: ir.Value | None = None,
) -> list[ir.Value]:
    """A tensor of type `element`: `function` of each of `elements`, which `info` describes.

    If there is a `row_sum`, a second one is the sum of each row, in its type.
    """
    sizes = sizes_of(elements)
    identity = ir.AffineMap.get_identity(len(info.shape))
    results, maps, kinds = [tensor.empty(sizes, element)], [identity, identity], ["parallel"] * len(info.shape)
    if row_sum is not None:
        kinds[-1] = "reduction"
        maps.append(identity.get_submap(list(range(len(info.shape) - 1))))
        is_double = require_shaped_info(row_sum.type).dtype == "float64"
        summed = ir.F64Type.get() if is_double else ir.F32Type.get()
        zero = arith.ConstantOp(summed, ir.FloatAttr.get(summed, 0.0)).result
        results.append(linalg.fill(zero, outs=[tensor.empty(sizes[:-1], summed)]))
    made = linalg.GenericOp(
        [result.type for result in results],
        [elements],
        results,
        ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps]),
        iterators(kinds),
    )
    block = made.regions[0].blocks.append(
        element_type(info), *(ir.RankedTensorType(result.type).element_type for result in results)
    )
    with ir.InsertionPoint(block):
        value = function(Scalar(_single(block.arguments[0], info.dtype))).value
        yielded = [value if value.type == element else arith.TruncFOp(element, value).result]
        for total in block.arguments[2:]:
            term = value if total.type == value.type else arith.ExtFOp(total.type, value).result
            yielded.append(arith.AddFOp(total, term).result)
        linalg.YieldOp(yielded)
    computed = list(made.results)
    if row_sum is not None and len(require_shaped_info(row_sum.type).shape) == len(info.shape):
        computed[1] = with_last_dimension(computed[1])
    return computed


def iterators(kinds: Iterable[str]) -> ir.Attribute:
    """What linalg says of a loop's dimensions, each "parallel" or a "reduction"."""
    return ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in kinds])


def sizes_of(value: ir.Value) -> list[int | ir.Value]:
    """The sizes of one of MLIR's own tensors, as what makes another one takes them."""
    type_ = ir.RankedTensorType(value.type)
    return [
        tensor.dim(value, arith.ConstantOp(ir.IndexType.get(), dim)) if type_.is_dynamic_dim(dim) else type_.shape[dim]
        for dim in range(type_.rank)
    ]


def with_last_dimension(value: ir.Value) -> ir.Value:
    """`value` with a last dimension of size 1."""
    type_ = ir.RankedTensorType(value.type)
    rank = type_.rank
    groups = [[dim] for dim in range(rank - 1)] + [[rank - 1, rank]]
    sizes = [*sizes_of(value), 1]
    stated = [size if isinstance(size, int) else _OPEN for size in sizes]
    result = ir.RankedTensorType.get(stated, type_.element_type)
    return tensor.expand_shape(result, value, groups, [size for size in sizes if not isinstance(size, int)], stated)


def _single(value: ir.Value, dtype: str) -> ir.Value:
    """A number of element type `dtype` as float32; one of float64 as it is."""
    single = ir.F32Type.get()
    if dtype in ("float32", "float64"):
        return value
    if dtype in FLOATS:
        return arith.ExtFOp(single, value).result
    return (arith.UIToFPOp if dtype in _UNSIGNED else arith.SIToFPOp)(single, value).result
