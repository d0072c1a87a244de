"""log, log2 and log1p of float32, by the exponent and a minimax polynomial of the rest."""

import math

from dovetail.backends.elementary.exponential import LOG2_HIGH, LOG2_LOW
from dovetail.backends.elementary.scalar import Scalar, exact_sum, polynomial

# (log(1 + f) - f) / f**2 for |f| <= 1 / 3, by Remez's exchange: 2**-27 of log(1 + f).
_SECOND_ORDER = (
    -0.5,
    0.333332151,
    -0.249995321,
    0.200104743,
    -0.166888908,
    0.140050426,
    -0.120842323,
    0.13987729,
    -0.132909149,
)

_TWO_THIRDS = 0x3F2AAAAB
_EXPONENT = -(1 << 23)
_ONE = 127 << 23


def log(x: Scalar) -> Scalar:
    exponent, fraction = _parts(x)
    total, error = exact_sum(exponent * LOG2_HIGH, fraction)
    value = total + (error + (fraction * fraction * polynomial(fraction, _SECOND_ORDER) + exponent * LOG2_LOW))
    return _at_ends(x, value)


def log2(x: Scalar) -> Scalar:
    """The fraction's logarithm times 1 / log(2), of which the high part is exact with 12 bits of the fraction."""
    exponent, fraction = _parts(x)
    high = fraction.bits.masked(-(1 << 12)).as_float()
    low = (fraction - high) + fraction * fraction * polynomial(fraction, _SECOND_ORDER)
    total, error = exact_sum(exponent, high * _LOG2_E_HIGH)
    return _at_ends(x, total + (error + ((high + low) * _LOG2_E_LOW + low * _LOG2_E_HIGH)))


_LOG2_E_HIGH = 1.4423828125
_LOG2_E_LOW = 1 / math.log(2) - _LOG2_E_HIGH


def log1p(x: Scalar) -> Scalar:
    """The logarithm of the rounded 1 + x, to which is added what the rounding lost."""
    above = x + 1.0
    one = above - x
    lost = (x - (above - one)) + (1.0 - one)
    shift, fraction = _normalised(above)
    scale = (above > 2.0**30).if_true(x.constant(0.0), shift.constant(_ONE).minus(shift).as_float())
    lost = lost * scale * (1.0 - fraction)
    exponent = shift.right(23).converted()
    total, error = exact_sum(exponent * LOG2_HIGH, fraction)
    second = fraction * fraction * polynomial(fraction, _SECOND_ORDER)
    value = total + (error + (second + (lost + exponent * LOG2_LOW)))
    value = (abs(x) < 2.0**-25).if_true(x, value)
    return _at_ends(above, value)


def _parts(x: Scalar) -> tuple[Scalar, Scalar]:
    """`x` as 2**exponent * (1 + fraction); subnormal numbers are scaled first."""
    is_small = x < 2.0**-126
    shift, fraction = _normalised(is_small.if_true(x * 2.0**23, x))
    exponent = shift.right(23).converted()
    return is_small.if_true(exponent - 23.0, exponent), fraction


def _normalised(x: Scalar) -> tuple[Scalar, Scalar]:
    """The exponent of `x` in place, and the fraction, which lies between -1/3 and 1/3."""
    shift = x.bits.minus(_TWO_THIRDS).masked(_EXPONENT)
    return shift, x.bits.minus(shift).as_float() - 1.0


def _at_ends(x: Scalar, value: Scalar) -> Scalar:
    """`value`, the logarithm of `x`, but where `x` is zero, negative, infinite or NaN."""
    value = (x < math.inf).if_true(value, x)
    value = x.equals(0.0).if_true(x.constant(-math.inf), value)
    return (x < 0.0).if_true(x.constant(math.nan), value)
