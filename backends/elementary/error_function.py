"""erf of float32."""

from dovetail.backends.elementary.exponential import reduced
from dovetail.backends.elementary.scalar import Scalar, polynomial

# erf(x) / x - 1 of x**2 for |x| <= 1, by Remez's exchange: 2**-29 of erf(x).
_NEAR = (0.128379166, -0.37612626, 0.112835854, -0.026853811, 0.00518832775, -0.000801019312, 7.85386073e-05)

# -log(erfc(x)) / x for 1 <= x <= 4, each coefficient fitted beside those before it as rounded: 2**-31 of erf(x).
_FAR = (1.1286943, 0.634969711, 0.10653054, -0.0240097586, 0.00375731266, -0.000350546004, 1.39570693e-05)


def erf(x: Scalar) -> Scalar:
    """A polynomial up to 1, beyond it 1 - exp(-|x| q(|x|)), of which the exponent is the logarithm of erfc."""
    square = x * x
    near = x + x * polynomial(square, _NEAR)
    size = abs(x)
    bounded = (size > 4.0).if_true(x.constant(4.0), size)
    parts = reduced(-bounded * polynomial(bounded, _FAR))
    erfc = parts.power() * (1.0 + (parts.high + parts.low))
    far = (1.0 - erfc).with_sign_of(x)
    return (size > 1.0).if_true(far, near)
