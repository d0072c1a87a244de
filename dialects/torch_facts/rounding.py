"""What an element type makes of a Python number, as PyTorch converts one; without a tensor, which would be traced."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy


@dataclass(frozen=True)
class _Format:
    """IEEE 754's binary format: the bits of a significand, its first included, and the exponents of normal numbers."""

    bits: int
    least: int
    most: int


_FORMATS = {
    "float16": _Format(11, -14, 15),
    "bfloat16": _Format(8, -126, 127),
    "float32": _Format(24, -126, 127),
    "float64": _Format(53, -1022, 1023),
}


def rounded(number: float, dtype: str) -> float:
    """The nearest number of a floating-point type, ties to even; of half precision in two steps, by way of float32."""
    if dtype in ("float16", "bfloat16"):
        number = _nearest(number, _FORMATS["float32"])
    return _nearest(number, _FORMATS[dtype])


def wrapped(number: int, dtype: str) -> int:
    """The last bits of a whole number, as many as the integer type `dtype` has."""
    info = numpy.iinfo(dtype)
    return (number - int(info.min)) % (1 << info.bits) + int(info.min)


def _nearest(number: float, format_: _Format) -> float:
    if not math.isfinite(number):
        return number
    exponent = max(math.frexp(number)[1] - 1, format_.least)
    step = Fraction(math.ldexp(1.0, exponent + 1 - format_.bits))
    nearest = round(Fraction(number) / step) * step
    is_held = abs(nearest) <= math.ldexp(2 - math.ldexp(1.0, 1 - format_.bits), format_.most)
    return math.copysign(float(abs(nearest)) if is_held else math.inf, number)
