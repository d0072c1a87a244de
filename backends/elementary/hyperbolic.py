"""tanh of float32."""

from dovetail.backends.elementary.exponential import reduced
from dovetail.backends.elementary.scalar import Scalar, polynomial

# (tanh(x) / x - 1) / x**2 of x**2 for |x| <= 1, by Remez's exchange: 2**-31 of tanh(x).
_NEAR = (
    -0.333333284,
    0.133331999,
    -0.0539531,
    0.0217847321,
    -0.00859511551,
    0.00307859527,
    -0.000841137778,
    0.000121470854,
)


def tanh(x: Scalar) -> Scalar:
    """A polynomial up to 1, beyond it 1 - 2 / (exp(2 |x|) + 1), whose sum is rounded once."""
    square = x * x
    near = x + x * square * polynomial(square, _NEAR)
    size = abs(x)
    parts = reduced((size > 9.5).if_true(x.constant(19.0), size + size))
    power = parts.power()
    sum_ = (power + 1.0) + power * (parts.high + parts.low)
    return (size > 1.0).if_true(1.0 - 2.0 / sum_, near).with_sign_of(x)
