"""Tensors as text: `2x3xf32=1,2,3,4,5,6`, and as .npy files: `@x.npy`."""

import cmath
import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy
import torch

from dovetail.errors import InputError

DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "ui8": torch.uint8,
    "i1": torch.bool,
    "complex<f32>": torch.complex64,
    "complex<f64>": torch.complex128,
}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_TENSOR = re.compile(r"(?P<shape>(\d+x)*)(?P<dtype>[a-z]+[\w<>]*)=(?P<values>.*)", re.DOTALL)
_FORMS = "@FILE.npy, SHAPExTYPE=VALUES as in 2x3xf32=1,2,3,4,5,6, or a number"
SHOWN = 1024
"""Elements above which a printed tensor is summarised."""


def parse_value(text: str) -> torch.Tensor | int | float | complex:
    """The tensor or number that an `--input` gives; one value alone fills a tensor.

    Raises:
        InputError: for anything else, naming the forms.
    """
    if text.startswith("@"):
        return _loaded(text[1:])
    match = _TENSOR.fullmatch(text)
    if match is None:
        return _number(text, text)
    if match["dtype"] not in DTYPES:
        raise InputError(f"unknown element type '{match['dtype']}', valid are {', '.join(DTYPES)}")
    dtype = DTYPES[match["dtype"]]
    shape = tuple(int(size) for size in match["shape"].split("x") if size)
    values = [_number(each, text) for each in re.split(r"[\s,\[\]]+", match["values"]) if each]
    count = torch.Size(shape).numel()
    if len(values) not in (1, count):
        raise InputError(f"{type_text(shape, dtype)} has {count} elements, got {len(values)} values")
    return _tensor(values * (count if len(values) == 1 else 1), dtype).reshape(shape)


def _tensor(values: list, dtype: torch.dtype) -> torch.Tensor:
    """A flat tensor of `values`, none of which may change on the way but by rounding."""
    takes = (int, float, complex) if dtype.is_complex else (int, float) if dtype.is_floating_point else (int,)
    for value in values:
        if not isinstance(value, takes) or not _has(dtype, value):
            raise InputError(f"{_NAMES[dtype]} does not have the value {value}")
    # Of whole numbers as such, PyTorch takes those of 64 bits alone.
    return torch.tensor([takes[-1](each) for each in values], dtype=dtype)


def _has(dtype: torch.dtype, value: complex) -> bool:
    """Whether `dtype` has `value`, but for rounding; of floating-point formats each has the infinities and NaN."""
    if dtype is torch.bool:
        return value in (0, 1)
    if not (dtype.is_floating_point or dtype.is_complex):
        return torch.iinfo(dtype).min <= value.real <= torch.iinfo(dtype).max
    for part in (value.real, value.imag):
        try:
            rounded = torch.tensor(float(part), dtype=dtype).abs()
        except OverflowError:  # an int that not even float64 has
            return False
        if rounded.isinf() and not math.isinf(part):
            return False
    return True


def _loaded(path: str) -> torch.Tensor:
    try:
        array = numpy.load(path, allow_pickle=False)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise InputError(f"{path}: expected a .npy file: {error}") from error
    try:
        return torch.from_numpy(array)
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: holds elements of type {array.dtype}, which torch does not have") from error


def _number(text: str, whole: str) -> int | float | complex:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float, complex):
        try:
            found = kind(text)
        except ValueError:
            continue
        if not isinstance(found, int) and cmath.isinf(found) and "inf" not in text.lower():
            raise InputError(f"no element type has the value {text}")
        return found
    raise InputError(f"can't read '{whole}', expected {_FORMS}")


def save_value(path: Path, tensor: torch.Tensor) -> None:
    """Writes `tensor` as .npy; given a path, numpy would add the suffix where it is missing."""
    with path.open("wb") as file:
        numpy.save(file, _plain(tensor).numpy())


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().cpu().resolve_conj().resolve_neg()


def is_storable(dtype: torch.dtype) -> bool:
    """Whether .npy has the element type."""
    return dtype in _NAMES and dtype is not torch.bfloat16


def type_text(shape: Sequence[int | None], dtype: torch.dtype) -> str:
    """`2x3xf32`, `?x3xf32` where a size is open."""
    return "x".join([*("?" if size is None else str(size) for size in shape), _NAMES.get(dtype, str(dtype))])


def value_text(value: object) -> str:
    """A tensor as `parse_value` reads it, up to `SHOWN` elements; anything else as Python prints it."""
    if not isinstance(value, torch.Tensor):
        return repr(value)
    plain = _plain(value)
    array = (plain.float() if plain.dtype is torch.bfloat16 else plain).numpy()
    shown = numpy.array2string(array, separator=",", threshold=SHOWN, max_line_width=118, floatmode="unique")
    return f"{type_text(tuple(value.shape), value.dtype)}={shown}"
