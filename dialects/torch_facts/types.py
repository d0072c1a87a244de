"""Torch's types: what `!torch.vtensor<[2,3],f32>` says, as Python values, and types built of these.

The torch dialect's bindings have neither accessors nor builders, so types are read and written as text, here alone.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from torch_mlir import ir

from dovetail.dialects.torch_facts.sizes import Size, Sizes, numel, parse_sizes, print_sizes, row_major

_VALUE, _MEMORY = "vtensor", "tensor"
_TENSOR = re.compile(r"!torch\.(?P<kind>v?tensor)<\[(?P<shape>[0-9,?]*)\],(?P<element>[A-Za-z0-9<>]+)>")

_DTYPES = {
    "f64": ("float64", 8),
    "f32": ("float32", 4),
    "f16": ("float16", 2),
    "bf16": ("bfloat16", 2),
    "f8E5M2": ("float8_e5m2", 1),
    "f8E4M3FN": ("float8_e4m3fn", 1),
    "f8E5M2FNUZ": ("float8_e5m2fnuz", 1),
    "f8E4M3FNUZ": ("float8_e4m3fnuz", 1),
    "si64": ("int64", 8),
    "si32": ("int32", 4),
    "si16": ("int16", 2),
    "si8": ("int8", 1),
    "ui8": ("uint8", 1),
    "i1": ("bool", 1),
    "complex<f16>": ("complex32", 4),
    "complex<f32>": ("complex64", 8),
    "complex<f64>": ("complex128", 16),
}

_ELEMENTS = {name: element for element, (name, _) in _DTYPES.items()}

DTYPE_NAMES = frozenset(name for name, _ in _DTYPES.values())
"""PyTorch's names of the element types that the IR has."""


@dataclass(frozen=True)
class TensorInfo:
    """Shape and element type of a ranked tensor; `dtype` is PyTorch's name for it, without `torch.`."""

    shape: Sizes
    dtype: str
    itemsize: int

    @property
    def numel(self) -> int:
        return numel(self.shape)

    @property
    def nbytes(self) -> int:
        return self.numel * self.itemsize

    @property
    def contiguous_strides(self) -> tuple[int, ...]:
        """Strides in elements of the row-major layout."""
        return row_major(self.shape)

    @property
    def is_floating_point(self) -> bool:
        return self.dtype.startswith(("float", "bfloat"))

    @property
    def is_complex(self) -> bool:
        return self.dtype.startswith("complex")


@lru_cache(maxsize=4096)
def _parse(text: str) -> tuple[str, TensorInfo] | None:
    match = _TENSOR.fullmatch(text)
    shape = None if match is None else parse_sizes(match["shape"])
    if match is None or shape is None or match["element"] not in _DTYPES:
        return None
    return match["kind"], TensorInfo(shape, *_DTYPES[match["element"]])


def tensor_info(type_: ir.Type) -> TensorInfo | None:
    """Returns what a ranked, static `!torch.vtensor` or `!torch.tensor` type says, None for any other type."""
    parsed = _parse(str(type_))
    return None if parsed is None else parsed[1]


def is_tensor(type_: ir.Type) -> bool:
    """Whether `type_` is a ranked, static torch tensor type."""
    return _parse(str(type_)) is not None


def require_tensor_info(type_: ir.Type) -> TensorInfo:
    """Like `tensor_info`, for places where only a ranked, static tensor can stand.

    Raises:
        ValueError: for any other type, naming it.
    """
    return _require(type_)[1]


def _require(type_: ir.Type) -> tuple[str, TensorInfo]:
    parsed = _parse(str(type_))
    if parsed is None:
        raise ValueError(f"expected a ranked torch tensor type with static sizes, got '{type_}'")
    return parsed


def is_value_type(type_: ir.Type) -> bool:
    """Whether `type_` is that of tensors' values, `!torch.vtensor`, static or not."""
    return str(type_).startswith(f"!torch.{_VALUE}")


def is_memory_type(type_: ir.Type) -> bool:
    """Whether `type_` is that of buffers that are written, `!torch.tensor`, static or not."""
    return str(type_).startswith(f"!torch.{_MEMORY}")


def is_memory(value: ir.Value) -> bool:
    """Whether `value` is a buffer that is written rather than a tensor's value."""
    return is_memory_type(value.type)


def holds_tensors(type_: ir.Type) -> bool:
    """Whether `type_` is that of tensors, or of lists or refs of them."""
    return _MEMORY in str(type_)


def is_list_type(type_: ir.Type) -> bool:
    """Whether `type_` is that of lists, of whatever."""
    return str(type_).startswith("!torch.list<")


def is_torch_type(type_: ir.Type, name: str) -> bool:
    """Whether `type_` is `!torch.<name>`."""
    return str(type_) == f"!torch.{name}"


def torch_type(name: str, context: ir.Context | None = None) -> ir.Type:
    """The type `!torch.<name>` that no tensor has: "none", "int", "list<vtensor>"."""
    return ir.Type.parse(f"!torch.{name}", context)


def memory_type(type_: ir.Type) -> ir.Type:
    """The type of memory that holds values of the tensor type `type_`."""
    return _of_kind(type_, _MEMORY)


def value_type(type_: ir.Type) -> ir.Type:
    """The type of the values that memory of the tensor type `type_` holds."""
    return _of_kind(type_, _VALUE)


def with_shape(type_: ir.Type, sizes: Iterable[Size]) -> ir.Type:
    """The tensor type that differs from `type_` in its sizes only."""
    return _build(type_, sizes=sizes)


def with_dtype(type_: ir.Type, dtype: str) -> ir.Type:
    """The tensor type that differs from `type_` in its element type only, which PyTorch calls `dtype`."""
    return _build(type_, dtype=dtype)


def _of_kind(type_: ir.Type, kind: str) -> ir.Type:
    """The type of the other kind with the sizes, known or not, and elements of the tensor type `type_`."""
    _, bracket, of = str(type_).partition("<")
    return torch_type(f"{kind}{bracket}{of}", type_.context)


def _build(type_: ir.Type, sizes: Iterable[Size] | None = None, dtype: str = "") -> ir.Type:
    """The tensor type that differs from `type_` in what is given."""
    kind, info = _require(type_)
    shape = print_sizes(info.shape if sizes is None else sizes)
    return torch_type(f"{kind}<[{shape}],{_ELEMENTS[dtype or info.dtype]}>", type_.context)
