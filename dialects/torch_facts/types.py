"""What `!torch.vtensor<[2,3],f32>` says, as Python values.

The torch dialect's bindings have no accessors for its types, so their text is read here and nowhere else.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from torch_mlir import ir

_VALUE, _MEMORY = "!torch.vtensor<", "!torch.tensor<"
_TENSOR = re.compile(r"!torch\.v?tensor<\[(?P<shape>[0-9,?]*)\],(?P<dtype>[A-Za-z0-9<>]+)>")

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


def element(dtype: str) -> str:
    """The text of an element type in the IR, e.g. "f32" of "float32"."""
    return _ELEMENTS[dtype]


@dataclass(frozen=True)
class TensorInfo:
    """Shape and element type of a ranked tensor; `dtype` is PyTorch's name for it, without `torch.`."""

    shape: tuple[int, ...]
    dtype: str
    itemsize: int

    @property
    def numel(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.numel * self.itemsize

    @property
    def contiguous_strides(self) -> tuple[int, ...]:
        """Strides in elements of the row-major layout, as PyTorch computes them for empty tensors too."""
        strides, step = [], 1
        for size in reversed(self.shape):
            strides.append(step)
            step *= max(size, 1)
        return tuple(reversed(strides))

    @property
    def is_floating_point(self) -> bool:
        return self.dtype.startswith(("float", "bfloat"))


@lru_cache(maxsize=4096)
def _parse(text: str) -> TensorInfo | None:
    match = _TENSOR.fullmatch(text)
    if match is None or "?" in match["shape"] or match["dtype"] not in _DTYPES:
        return None
    shape = tuple(int(size) for size in match["shape"].split(",") if size)
    name, itemsize = _DTYPES[match["dtype"]]
    return TensorInfo(shape, name, itemsize)


def tensor_info(type_: ir.Type) -> TensorInfo | None:
    """Returns what a ranked, static `!torch.vtensor` or `!torch.tensor` type says, None for any other type."""
    return _parse(str(type_))


def is_tensor(type_: ir.Type) -> bool:
    """Whether `type_` is a ranked, static torch tensor type."""
    return tensor_info(type_) is not None


def require_tensor_info(type_: ir.Type) -> TensorInfo:
    """Like `tensor_info`, for places where only a ranked, static tensor can stand.

    Raises:
        ValueError: for any other type, naming it.
    """
    info = tensor_info(type_)
    if info is None:
        raise ValueError(f"expected a ranked torch tensor type with static sizes, got '{type_}'")
    return info


def is_memory(value: ir.Value) -> bool:
    """Whether `value` is a buffer that is written, `!torch.tensor`, rather than a tensor's value."""
    return str(value.type).startswith(_MEMORY)


def memory_type(type_: ir.Type) -> ir.Type:
    """`!torch.tensor` for `!torch.vtensor`: the same tensor, as memory."""
    return ir.Type.parse(str(type_).replace(_VALUE, _MEMORY), type_.context)


def value_type(type_: ir.Type) -> ir.Type:
    """`!torch.vtensor` for `!torch.tensor`: what such memory holds."""
    return ir.Type.parse(str(type_).replace(_MEMORY, _VALUE), type_.context)
