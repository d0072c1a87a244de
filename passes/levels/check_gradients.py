"""What `verify-level` asks of the strides that are stated of gradients: that tensors of their sizes can have them."""

from torch_mlir import ir

from dovetail.dialects.attributes import GRADIENT_STRIDES
from dovetail.dialects.dovetail import GradientOp
from dovetail.dialects.reading import Module, Role, attribute, of_class, result_facts, role
from dovetail.dialects.sizes.known_strides import dense_order
from dovetail.dialects.statements.stated import named
from dovetail.dialects.torch_facts.types import tensor_info
from dovetail.passes.base import fail

_EXPECTED = f"expects '{GRADIENT_STRIDES}' to be the strides of a dense tensor"


def check_gradients(module: Module) -> None:
    """Raises PassError for strides that no dense tensor of a gradient's sizes has, or of what is no gradient."""
    for name, function_op in module.functions.items():
        for op in of_class(module.bodies[name], GradientOp):
            stated = attribute(op, GRADIENT_STRIDES)
            if stated is not None and not _fits(op.operands[0].type, stated):
                raise fail(op, f"{_EXPECTED} of '{op.operands[0].type}', got {stated}")
        is_backward = role(function_op) is Role.BACKWARD
        for type_, facts in zip(function_op.type.results, result_facts(function_op), strict=True):
            stated = named(facts, GRADIENT_STRIDES)
            if stated is not None and not (is_backward and _fits(type_, stated)):
                raise fail(function_op, f"{_EXPECTED} that '@backward' returns, got {stated} of '{type_}'")


def _fits(type_: ir.Type, stated: ir.Attribute) -> bool:
    info = tensor_info(type_)
    if info is None or not isinstance(stated, ir.DenseI64ArrayAttr) or len(stated) != len(info.shape):
        return False
    return dense_order(info.shape, list(stated)) is not None
