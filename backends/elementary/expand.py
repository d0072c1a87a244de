"""Puts our own code for elementary functions into the text of regions, as loops that IREE fuses like any other."""

from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from dovetail.backends.elementary.functions import FUNCTIONS
from dovetail.backends.elementary.scalar import Scalar
from dovetail.dialects.context import make_context
from dovetail.dialects.torch_facts.types import TensorInfo, require_tensor_info

_FLOATS = {"float32": ir.F32Type, "float16": ir.F16Type, "bfloat16": ir.BF16Type}
_UNSIGNED = ("bool", "uint8")


def with_own_functions(text: str) -> str:
    """`text`, in the torch dialect, with our own code for what it has of `FUNCTIONS` in float32 and half precision.

    What is half as precise, and of whole numbers, is computed in float32, as eager does. Float64 stays IREE's.
    """
    if not any(name in text for name in FUNCTIONS):
        return text
    context = make_context()
    # IREE's input converts between torch's tensors and MLIR's own by a dialect that the bindings don't know.
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        module = ir.Module.parse(text)
        for function in module.body.operations:
            for op in [each.operation for each in function.body.blocks[0].operations]:
                if op.name in FUNCTIONS and require_tensor_info(op.results[0].type).dtype in _FLOATS:
                    _replace(op, FUNCTIONS[op.name])
        return str(module)


def _replace(op: ir.Operation, function: Callable[[Scalar], Scalar]) -> None:
    operand, result = op.operands[0], op.results[0]
    source, target = require_tensor_info(operand.type), require_tensor_info(result.type)
    with op.location, ir.InsertionPoint(op):
        elements = _converted("to", operand, ir.RankedTensorType.get(source.shape, _element(source)))
        computed = _loop(elements, source, _element(target), function)
        value = _converted("from", computed, result.type)
    result.replace_all_uses_with(value)
    op.erase()


def _element(info: TensorInfo) -> ir.Type:
    if info.dtype in _FLOATS:
        return _FLOATS[info.dtype].get()
    return ir.IntegerType.get_signless(1 if info.dtype == "bool" else 8 * info.itemsize)


def _converted(which: str, value: ir.Value, type_: ir.Type) -> ir.Value:
    return ir.Operation.create(f"torch_c.{which}_builtin_tensor", [type_], [value]).result


def _loop(elements: ir.Value, info: TensorInfo, element: ir.Type, function: Callable[[Scalar], Scalar]) -> ir.Value:
    """A tensor of type `element`: `function` of each of `elements`, which `info` describes."""
    result = tensor.empty(info.shape, element)
    identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(len(info.shape)))
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    loop = linalg.GenericOp(
        [result.type],
        [elements],
        [result],
        ir.ArrayAttr.get([identity, identity]),
        ir.ArrayAttr.get([parallel] * len(info.shape)),
    )
    block = loop.regions[0].blocks.append(_element(info), element)
    with ir.InsertionPoint(block):
        value = function(Scalar(_single(block.arguments[0], info.dtype))).value
        linalg.YieldOp([value if value.type == element else arith.TruncFOp(element, value).result])
    return loop.result


def _single(value: ir.Value, dtype: str) -> ir.Value:
    """A number of element type `dtype` as float32."""
    single = ir.F32Type.get()
    if dtype == "float32":
        return value
    if dtype in _FLOATS:
        return arith.ExtFOp(single, value).result
    return (arith.UIToFPOp if dtype in _UNSIGNED else arith.SIToFPOp)(single, value).result
