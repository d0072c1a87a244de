"""Torch's types: what `!torch.vtensor<[2,3],f32>` says, as Python values, and types built of these.

The torch dialect's bindings have neither accessors nor builders, so types are read and written as text, here alone.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from torch_mlir import ir

from dovetail.dialects.torch_facts.read_once import read_once
from dovetail.dialects.torch_facts.sizes import OpenSize, Sizes, parse_sizes, print_sizes, row_major

_VALUE, _MEMORY = "vtensor", "tensor"
_TENSOR = re.compile(r"!torch\.v?tensor<\[(?P<shape>[0-9,?]*)\],(?P<element>[A-Za-z0-9<>]+)>")

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
class ShapedInfo:
    """Shape and element type of a ranked tensor; `dtype` is PyTorch's name for it, without `torch.`.

    A size that is known only when the program runs is None.
    """

    shape: tuple[OpenSize, ...]
    dtype: str
    itemsize: int

    @property
    def is_static(self) -> bool:
        return None not in self.shape

    @property
    def is_floating_point(self) -> bool:
        return self.dtype.startswith(("float", "bfloat"))

    @property
    def is_integer(self) -> bool:
        """Whether its elements are whole numbers, truth values apart."""
        return self.dtype.startswith(("int", "uint"))

    @property
    def is_complex(self) -> bool:
        return self.dtype.startswith("complex")

    def fits(self, sizes: Sequence[int]) -> bool:
        """Whether these are the sizes, as far as they are known."""
        known = zip(self.shape, sizes, strict=False)
        return len(sizes) == len(self.shape) and all(own is None or own == given for own, given in known)


@dataclass(frozen=True)
class TensorInfo(ShapedInfo):
    """The same of a tensor whose sizes are all known."""

    shape: Sizes

    @property
    def numel(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.numel * self.itemsize

    @property
    def contiguous_strides(self) -> tuple[int, ...]:
        """Strides in elements of the row-major layout."""
        return row_major(self.shape)


@dataclass(frozen=True)
class _Said:
    """What a type's text says: `shaped` of a ranked torch tensor, `info` if it is static, None for any other type."""

    text: str
    shaped: ShapedInfo | None
    info: TensorInfo | None
    is_value: bool
    is_memory: bool
    is_list: bool
    holds_tensors: bool


@lru_cache(maxsize=4096)
def _parse(text: str) -> _Said:
    match, shaped, info = _TENSOR.fullmatch(text), None, None
    if match is not None and match["element"] in _DTYPES:
        shaped = ShapedInfo(parse_sizes(match["shape"]), *_DTYPES[match["element"]])
        known = tuple(size for size in shaped.shape if size is not None)
        info = TensorInfo(known, shaped.dtype, shaped.itemsize) if shaped.is_static else None
    return _Said(
        text,
        shaped,
        info,
        is_value=text.startswith(f"!torch.{_VALUE}"),
        is_memory=text.startswith(f"!torch.{_MEMORY}"),
        is_list=text.startswith("!torch.list<"),
        holds_tensors=_MEMORY in text,
    )


@read_once
def _said(type_: ir.Type) -> _Said:
    return _parse(str(type_))


def tensor_info(type_: ir.Type) -> TensorInfo | None:
    """Returns what a ranked, static `!torch.vtensor` or `!torch.tensor` type says, None for any other type."""
    return _said(type_).info


def shaped_info(type_: ir.Type) -> ShapedInfo | None:
    """What a ranked `!torch.vtensor` or `!torch.tensor` type says, static or not; None for any other type."""
    return _said(type_).shaped


def is_differentiable(type_: ir.Type) -> bool:
    """Whether it is a tensor's of which there are derivatives."""
    info = shaped_info(type_)
    return info is not None and (info.is_floating_point or info.is_complex)


def is_open_type(type_: ir.Type) -> bool:
    """Whether `type_` is that of a ranked torch tensor some of whose sizes are known only when the program runs."""
    shaped = _said(type_).shaped
    return shaped is not None and not shaped.is_static


def is_tensor(type_: ir.Type) -> bool:
    """Whether `type_` is a ranked, static torch tensor type."""
    return _said(type_).info is not None


def require_tensor_info(type_: ir.Type) -> TensorInfo:
    """Like `tensor_info`, where only a ranked, static tensor can stand.

    Raises:
        ValueError: for any other type, naming it.
    """
    info = _said(type_).info
    if info is None:
        raise ValueError(f"expected a ranked torch tensor type with static sizes, got '{type_}'")
    return info


def require_shaped_info(type_: ir.Type) -> ShapedInfo:
    """Like `shaped_info`, where only a ranked tensor can stand.

    Raises:
        ValueError: for any other type, naming it.
    """
    info = _said(type_).shaped
    if info is None:
        raise ValueError(f"expected a ranked torch tensor type, got '{type_}'")
    return info


def is_value_type(type_: ir.Type) -> bool:
    """Whether `type_` is that of tensors' values, `!torch.vtensor`, static or not."""
    return _said(type_).is_value


def is_memory_type(type_: ir.Type) -> bool:
    """Whether `type_` is that of buffers that are written, `!torch.tensor`, static or not."""
    return _said(type_).is_memory


def is_memory(value: ir.Value) -> bool:
    """Whether `value` is a buffer that is written rather than a tensor's value."""
    return is_memory_type(value.type)


def holds_tensors(type_: ir.Type) -> bool:
    """Whether `type_` is that of tensors, or of lists or refs of them."""
    return _said(type_).holds_tensors


def is_list_type(type_: ir.Type) -> bool:
    """Whether `type_` is that of lists, of whatever."""
    return _said(type_).is_list


def is_torch_type(type_: ir.Type, name: str) -> bool:
    """Whether `type_` is `!torch.<name>`."""
    return _said(type_).text == f"!torch.{name}"


def is_number(type_: ir.Type) -> bool:
    """Whether `type_` is that of Python's numbers."""
    return _said(type_).text in ("!torch.int", "!torch.float")


def torch_type(name: str, context: ir.Context | None = None) -> ir.Type:
    """The type `!torch.<name>` that no tensor has: "none", "int", "list<vtensor>"."""
    return ir.Type.parse(f"!torch.{name}", context)


def tensor_type(sizes: Iterable[OpenSize], dtype: str, context: ir.Context | None = None) -> ir.Type:
    """The type of values of these sizes and of element type `dtype`, PyTorch's name for it."""
    return torch_type(f"{_VALUE}<[{print_sizes(sizes)}],{_ELEMENTS[dtype]}>", context)


def memory_type(type_: ir.Type) -> ir.Type:
    """The type of memory that holds values of the tensor type `type_`."""
    return _of_kind(type_, _MEMORY)


def value_type(type_: ir.Type) -> ir.Type:
    """The type of the values that memory of the tensor type `type_` holds."""
    return _of_kind(type_, _VALUE)


def with_shape(type_: ir.Type, sizes: Iterable[OpenSize]) -> ir.Type:
    """The tensor type that differs from `type_` in its sizes only."""
    return _build(type_, sizes=sizes)


def with_dtype(type_: ir.Type, dtype: str) -> ir.Type:
    """The tensor type that differs from `type_` in its element type only, which PyTorch calls `dtype`."""
    return _build(type_, dtype=dtype)


def _of_kind(type_: ir.Type, kind: str) -> ir.Type:
    """The type of the other kind with the sizes, known or not, and elements of the tensor type `type_`."""
    _, bracket, of = _said(type_).text.partition("<")
    return torch_type(f"{kind}{bracket}{of}", type_.context)


def _build(type_: ir.Type, sizes: Iterable[OpenSize] | None = None, dtype: str = "") -> ir.Type:
    """The tensor type that differs from `type_` in what is given."""
    info, kind = require_shaped_info(type_), _MEMORY if is_memory_type(type_) else _VALUE
    shape = print_sizes(info.shape if sizes is None else sizes)
    return torch_type(f"{kind}<[{shape}],{_ELEMENTS[dtype or info.dtype]}>", type_.context)
