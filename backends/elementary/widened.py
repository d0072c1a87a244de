"""Has GPUs compute functions of half precision as eager does: in float32, rounded once, where MLIR rounds each step."""

from torch_mlir import ir

from dovetail.backends.elementary.checked_gathers import check_gathers
from dovetail.backends.elementary.half_softmax import EXP, approximate_softmaxes
from dovetail.dialects.context import make_context
from dovetail.dialects.reading import body
from dovetail.dialects.torch_facts.element_types import HALF_PRECISION
from dovetail.dialects.torch_facts.in_regions import CHECKED_GATHER
from dovetail.dialects.torch_facts.scalar_types import SCALAR_TYPES
from dovetail.dialects.torch_facts.types import require_shaped_info, torch_type, with_dtype

_STEPWISE = "torch.aten.sigmoid"
"""MLIR makes four ops of it, each of the tensor's own element type."""
_CONVERSION = "torch.prims.convert_element_type"


def with_wide_functions(text: str) -> str:
    """`text`, in the torch dialect, with conversions around what MLIR takes apart in half precision.

    Softmaxes that are rounded to it say that they may be approximated (`half_softmax.py`).

    Text that does not parse stays: IREE's compiler, which parses it again, says why.
    """
    if not any(f"{name} " in text for name in (_STEPWISE, EXP, CHECKED_GATHER)):
        return text
    context = make_context()
    # IREE's input converts between torch's tensors and MLIR's own by a dialect that the bindings don't know.
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        try:
            module = ir.Module.parse(text)
        except ir.MLIRError:
            return text
        for function in module.body.operations:
            for op in [op for op in body(function) if op.name == _STEPWISE]:
                _widen(op)
            approximate_softmaxes(function)
            check_gathers(function)
        return str(module)


def _widen(op: ir.Operation) -> None:
    [operand], [result] = op.operands, op.results
    dtype = require_shaped_info(result.type).dtype
    if dtype not in HALF_PRECISION:
        return
    with op.location, ir.InsertionPoint(op):
        wide = _converted(operand, "float32")
        computed = ir.Operation.create(op.name, results=[wide.type], operands=[wide])
        value = _converted(computed.result, dtype)
    result.replace_all_uses_with(value)
    op.erase()


def _converted(value: ir.Value, dtype: str) -> ir.Value:
    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), SCALAR_TYPES.index(dtype))
    made = ir.Operation.create("torch.constant.int", results=[torch_type("int")], attributes={"value": number})
    type_ = with_dtype(value.type, dtype)
    return ir.Operation.create(_CONVERSION, results=[type_], operands=[value, made.result]).result
