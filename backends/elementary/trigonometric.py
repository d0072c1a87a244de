"""sin, cos and tan of float32, with a reduction that is right for every number.

By M. H. Payne and R. N. Hanek ("Radian reduction for trigonometric functions", 1983): of 2/pi, only those bits are
multiplied that decide the quadrant and the angle in it. Bits above give whole turns. Products of the 24 bits of a
float32 number and of 29 bits are exact in float64, fused or not, so that there is no other path for small numbers.
"""

from dataclasses import dataclass

from dovetail.backends.elementary.scalar import Scalar, exact_sum, polynomial

_QUARTER = float.fromhex("0x1.921fb54442d18p+0")
"""pi / 2 in float64."""

_ROUNDING = 1.5 * 2**52
"""A number beside which float64 has whole numbers alone: its last bits hold the one nearest to what was added."""

_BELOW = (2.0**51, 2.0**77, 2.0**103)
_PARTS = (
    (0x145F306D, 0x19391054, float.fromhex("0x1.4fe13abe8fa9ap-1")),
    (0x1727220A, 0x129FC275, float.fromhex("0x1.f47d4d377036ep-2")),
    (0x0A53F84E, 0x15F47D4D, float.fromhex("0x1.bb81b6c52b328p-3")),
    (0x1ABE8FA9, 0x14DDC0DB, float.fromhex("0x1.8a5664f10e410p-2")),
)
"""2/pi without its first 0, 26, 52 and 78 bits: 29 bits, the next 29, and the rest in units of their last one.

Each row is for the numbers below its bound in `_BELOW`, the last for what is left."""

_DROPPED = 26

# (sin(r) / r - 1) / r**2 and (cos(r) - 1 + r**2 / 2) / r**4 of r**2 for |r| <= 0.505 pi / 2, by Remez's exchange:
# 2**-37 and 2**-33 of the functions.
_SIN = (-0.166666672, 0.00833332911, -0.000198392561, 2.71756494e-06)
_COS = (0.0416666456, -0.00138872524, 2.44257644e-05)

_IS_ITSELF = 2.0**-13
"""Below it, a number is its sine and its tangent, the sign of zero included."""


@dataclass(frozen=True)
class Angle:
    """An angle up to pi / 4 on either side, as float64, and the quarter turns before it, in an integer's last bits."""

    rest: Scalar
    quadrant: Scalar


def reduced(x: Scalar) -> Angle:
    """Adds up the products with the parts of 2/pi, the largest first, and drops whole numbers on the way."""
    first, second, third = (_part(x, which) for which in range(3))
    wide = x.double()
    product = wide * first
    shifted = product + _ROUNDING
    left = (product - (shifted - _ROUNDING)) + wide * second
    again = left + _ROUNDING
    turns = (left - (again - _ROUNDING)) + wide * third
    return Angle(turns * _QUARTER, shifted.bits.plus(again.bits).low_half())


def _part(x: Scalar, which: int) -> Scalar:
    """The part of 2/pi for numbers of the size of `x`."""
    size = abs(x)
    numbers = [parts[which] * 2.0 ** (-_DROPPED * row - 29 * min(which + 1, 2)) for row, parts in enumerate(_PARTS)]
    value = x.double().constant(numbers[-1])
    for bound, number in reversed(list(zip(_BELOW, numbers, strict=False))):
        value = (size < bound).if_true(value.constant(number), value)
    return value


def sin(x: Scalar) -> Scalar:
    return (abs(x) < _IS_ITSELF).if_true(x, _sin_from(reduced(x), 0))


def cos(x: Scalar) -> Scalar:
    return _sin_from(reduced(x), 1)


def tan(x: Scalar) -> Scalar:
    """The quotient in float64; of odd quadrants its negative reciprocal."""
    angle = reduced(x)
    square = angle.rest * angle.rest
    sine = angle.rest + angle.rest * square * polynomial(square, _SIN)
    cosine = (1.0 - square * 0.5) + square * square * polynomial(square, _COS)
    is_even = angle.quadrant.masked(1).is_zero()
    value = is_even.if_true(sine, -cosine) / is_even.if_true(cosine, sine)
    return (abs(x) < _IS_ITSELF).if_true(x, value.single())


def _sin_from(angle: Angle, quarters: int) -> Scalar:
    """The sine of `angle` and so many quarter turns, in float32 with the rest's rounding error."""
    high = angle.rest.single()
    low = (angle.rest - high.double()).single()
    square = high * high
    sine = high + (low + high * square * polynomial(square, _SIN))
    total, error = exact_sum(square.constant(1.0), -0.5 * square)
    cosine = total + (error + (square * square * polynomial(square, _COS) - high * low))
    quadrant = angle.quadrant.plus(quarters)
    value = quadrant.masked(1).is_zero().if_true(sine, cosine)
    return value.bits.flipped(quadrant.masked(2).left(30)).as_float()
