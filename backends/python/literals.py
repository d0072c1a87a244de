"""The tensors that literals hold."""

import re

import torch
from torch_mlir import ir

from dovetail.dialects.torch_facts.types import require_tensor_info


def literal(op: ir.Operation) -> torch.Tensor:
    """The tensor that a `torch.vtensor.literal` holds."""
    info = require_tensor_info(op.results[0].type)
    dtype = getattr(torch, info.dtype)
    text = op.get_asm()
    if "dense_resource<" in text:
        raw = bytearray(_resource(op))
        return torch.frombuffer(raw, dtype=dtype).reshape(info.shape) if raw else torch.empty(info.shape, dtype=dtype)
    if dtype.is_complex:
        return _complex_literal(text, dtype).expand(info.numel).reshape(info.shape)
    attribute = op.attributes["value"]
    if attribute.is_splat:
        return torch.full(info.shape, attribute.get_splat_value().value, dtype=dtype)
    return torch.tensor(list(attribute), dtype=dtype).reshape(info.shape)


_COMPLEX = re.compile(r"\(([^(),]+),([^(),]+)\)")


def _complex_literal(text: str, dtype: torch.dtype) -> torch.Tensor:
    """The elements of a complex literal, which the bindings show as text alone, in one row; of equal ones one."""
    elements = text.partition("dense<")[2].partition("> : tensor")[0]
    part = torch.float64 if dtype is torch.complex128 else torch.float32
    pairs = [[_number(each, part) for each in pair] for pair in _COMPLEX.findall(elements)]
    return torch.view_as_complex(torch.tensor(pairs, dtype=part)).to(dtype)


def _number(text: str, dtype: torch.dtype) -> float:
    """A number as MLIR prints it; infinities and NaN are the bits of `dtype`."""
    if not text.strip().startswith("0x"):
        return float(text)
    bits = int(text, 16).to_bytes(dtype.itemsize, "little")
    return torch.frombuffer(bytearray(bits), dtype=dtype).item()


_RESOURCE = re.compile(r'"0x[0-9A-F]{8}(?P<data>[0-9A-F]*)"')
"""A resource as text: 4 bytes of alignment, then the data."""


def _resource(op: ir.Operation) -> bytes:
    """The data of a literal's resource, which the bindings show nowhere but in a printed module."""
    with op.context, ir.Location.unknown():
        module = ir.Module.create()
        op.clone(ip=ir.InsertionPoint(module.body))
        match = _RESOURCE.search(str(module))
    if match is None:
        raise NotImplementedError(f"{op.location}: the resource of '{op.attributes['value']}' holds no data")
    return bytes.fromhex(match["data"])
