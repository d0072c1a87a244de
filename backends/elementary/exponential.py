"""exp and expm1 of float32, by Cody and Waite's reduction to |r| <= log(2) / 2 and a minimax polynomial."""

import math
from dataclasses import dataclass

from dovetail.backends.elementary.scalar import Scalar, exact_sum, polynomial

_ROUNDING = 1.5 * 2**23
"""A number beside which float32 has whole numbers alone: its last bits hold the one nearest to what was added."""

LOG2_HIGH = 0.693359375
"""log(2), to ten bits: exact times any exponent."""
LOG2_LOW = math.log(2) - LOG2_HIGH

# (exp(r) - 1 - r) / r**2 for |r| <= 0.36, by Remez's exchange: 2**-33 of exp(r).
_SECOND_ORDER = (0.5, 0.166666672, 0.0416662134, 0.00833325367, 0.00139500643, 0.000199241127)

_BIAS = 127 << 23

_BOUND = 88.72284
"""From here on, exp(x) is infinite."""


@dataclass(frozen=True)
class Reduced:
    """exp(x) as 2**k * (1 + high + low), where `high` is exact and `low` is of second order.

    Attributes:
        k: a whole number.
        k_bits: its bits, in the low ones of an integer.
    """

    k: Scalar
    k_bits: Scalar
    high: Scalar
    low: Scalar

    def power(self) -> Scalar:
        """2**k, for -127 < k < 128."""
        return self.k_bits.left(23).plus(_BIAS).as_float()


def reduced(x: Scalar) -> Reduced:
    """Where exp(x) is no number, the parts are any numbers; of NaN they are NaN."""
    k, k_bits, high = _without_powers(x)
    tail = k * LOG2_LOW
    r = high - tail
    return Reduced(k, k_bits, high, r * r * polynomial(r, _SECOND_ORDER) - tail)


def whole(x: Scalar) -> tuple[Scalar, Scalar]:
    """The whole number nearest to `x`, below 2**22, and its bits, in the low ones of an integer."""
    shifted = x + _ROUNDING
    return shifted - _ROUNDING, shifted.bits


def _without_powers(x: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """The whole number k nearest to x / log(2), its bits, and x - k * log(2) but for the low part of log(2)."""
    k, k_bits = whole(x * (1 / math.log(2)))
    return k, k_bits, x - k * LOG2_HIGH


def exp(x: Scalar) -> Scalar:
    """k is added to the exponent's bits; where the result is subnormal, 64 more, and it is scaled back.

    The rounding error of x - k * log(2) is not kept: a quarter of a unit in the last place, for an eighth of the time.
    """
    power, k_bits, high = _without_powers(x)
    r = high - power * LOG2_LOW
    near_one = 1.0 + (r + r * r * polynomial(r, _SECOND_ORDER))
    is_small = x < -87.0
    k = k_bits.left(23)
    value = near_one.bits.plus(is_small.if_true(k.plus(64 << 23), k)).as_float()
    value = is_small.if_true(value * 2.0**-64, value)
    value = (x < _BOUND).if_true(value, x + math.inf)  # NaN too
    return (x < -104.0).if_true(x.constant(0.0), value)


def expm1(x: Scalar) -> Scalar:
    """The sum of 2**k - 1 and 2**k * (exp(r) - 1), halved lest the largest overflow."""
    parts = reduced(x)
    power = parts.k_bits.minus(1).left(23).plus(_BIAS).as_float()
    total, error = exact_sum(power - 0.5, power * parts.high)
    value = (total + (error + power * parts.low)) * 2.0
    value = (abs(x) < 2.0**-25).if_true(x, value)
    value = (x > 88.75).if_true(x.constant(math.inf), value)
    return (x < -18.0).if_true(x.constant(-1.0), value)


def sigmoid(x: Scalar) -> Scalar:
    """As ATen computes it."""
    return 1.0 / (1.0 + exp(-x))
