"""Tensors that count their elements, on a device."""

from torch_mlir import ir

from dovetail.dialects.torch_facts.types import torch_type
from dovetail.passes.rewriting.cloning import constant_none
from dovetail.passes.rewriting.constants import constant, dtype_number
from dovetail.passes.rewriting.rules import create

ARANGE = "torch.aten.arange.start_step"


def counting(size: int, dtype: str, device: str) -> ir.Value:
    """Builds the tensor of the numbers 0 to `size` - 1, of element type `dtype`, int32 or int64, on `device`."""
    type_ = torch_type(f"vtensor<[{size}],s{dtype.replace('int', 'i')}>")
    operands = [constant(0), constant(size), constant(1), dtype_number(dtype), constant_none(), named(device)]
    return create(ARANGE, [*operands, constant(False)], type_)


def named(device: str) -> ir.Value:
    """Builds the name of a device, in torch's words."""
    attributes = {"value": ir.StringAttr.get(device)}
    return ir.Operation.create("torch.constant.device", results=[torch_type("Device")], attributes=attributes).result
