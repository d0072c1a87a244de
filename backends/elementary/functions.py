"""Our own code of torch ops: which there are, and those that take a few lines."""

from collections.abc import Callable, Mapping

from dovetail.backends.elementary.exponential import exp, expm1, reduced, sigmoid, whole
from dovetail.backends.elementary.logarithm import log, log1p, log2
from dovetail.backends.elementary.scalar import Scalar, exact_sum, polynomial
from dovetail.backends.elementary.trigonometric import cos, sin, tan

# (tanh(x) / x - 1) / x**2 of x**2 for |x| <= 1, by Remez's exchange: 2**-31 of tanh(x).
_TANH = (
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
    near = x + x * square * polynomial(square, _TANH)
    size = abs(x)
    parts = reduced((size > 9.5).if_true(x.constant(19.0), size + size))
    power = parts.power()
    sum_ = (power + 1.0) + power * (parts.high + parts.low)
    return (size > 1.0).if_true(1.0 - 2.0 / sum_, near).with_sign_of(x)


# erf(x) / x - 1 of x**2 for |x| <= 1, by Remez's exchange: 2**-29 of erf(x).
_ERF = (0.128379166, -0.37612626, 0.112835854, -0.026853811, 0.00518832775, -0.000801019312, 7.85386073e-05)

# log2(erfc(x)) / x for 1 <= x <= 4, each coefficient fitted beside those before it as rounded: 2**-28 of erf(x).
_ERFC = (-1.62804615, -0.917332351, -0.151622534, 0.032873407, -0.00459226919, 0.000303227542)

# 2**r for |r| <= 1/2, fitted alike: 2**-28.
_POWER = (1.0, 0.693147182, 0.240226507, 0.0555035956, 0.00961806253, 0.00133909856, 0.000154628695)


def erf(x: Scalar) -> Scalar:
    """A polynomial up to 1, beyond it 1 - 2**(|x| q(|x|)), of which the exponent is the logarithm of erfc."""
    square = x * x
    near = x + x * polynomial(square, _ERF)
    size = abs(x)
    bounded = (size > 4.0).if_true(x.constant(4.0), size)
    exponent = bounded * polynomial(bounded, _ERFC)
    k, k_bits = whole(exponent)
    # At most 0.16, it needs not be as exact as what exp gives.
    erfc = polynomial(exponent - k, _POWER).bits.plus(k_bits.left(23)).as_float()
    far = (1.0 - erfc).with_sign_of(x)
    return (size > 1.0).if_true(far, near)


# (asin(s) / s - 1) / s**2 of s**2 for s <= 1/2, by Remez's exchange: 2**-32 of asin(s).
_ASIN = (0.166666597, 0.0750051066, 0.0445157476, 0.0318174213, 0.0144032454, 0.0375643894)

_QUARTER, _QUARTER_LOW = float.fromhex("0x1.921fb6p+0"), -float.fromhex("0x1.777a5cp-25")
"""pi / 2 as two float32 numbers."""


def asin(x: Scalar) -> Scalar:
    """A polynomial up to 1/2, beyond it pi / 2 - 2 asin(s), s being the root of (1 - |x|) / 2, which is exact."""
    size = abs(x)
    is_near = size < 0.5
    square = is_near.if_true(x * x, 0.5 - 0.5 * size)
    root = is_near.if_true(size, square.root())
    rest = root * square * polynomial(square, _ASIN)
    total, error = exact_sum(x.constant(_QUARTER), -2.0 * root)
    far = total + (error + (_QUARTER_LOW - 2.0 * rest))
    return is_near.if_true(root + rest, far).with_sign_of(x)


def ceil(x: Scalar) -> Scalar:
    """Exact, of zeros, infinities and NaN too. IREE links a function for `floor` alone where CPUs lack SSE4.1."""
    return -(-x).floor()


FUNCTIONS: Mapping[str, Callable[[Scalar], Scalar]] = {
    f"torch.aten.{function.__name__}": function
    for function in (asin, cos, erf, exp, expm1, log, log1p, log2, sigmoid, sin, tan, tanh)
}
"""Of float32 and half precision."""

OF_DOUBLES: Mapping[str, Callable[[Scalar], Scalar]] = {"torch.aten.ceil": ceil}
"""Of float64."""
