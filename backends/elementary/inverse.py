"""asin of float32."""

from dovetail.backends.elementary.scalar import Scalar, exact_sum, polynomial

# (asin(s) / s - 1) / s**2 of s**2 for s <= 1/2, by Remez's exchange: 2**-32 of asin(s).
_NEAR = (0.166666597, 0.0750051066, 0.0445157476, 0.0318174213, 0.0144032454, 0.0375643894)

_QUARTER, _QUARTER_LOW = float.fromhex("0x1.921fb6p+0"), -float.fromhex("0x1.777a5cp-25")
"""pi / 2 as two float32 numbers."""


def asin(x: Scalar) -> Scalar:
    """A polynomial up to 1/2, beyond it pi / 2 - 2 asin(s), s being the root of (1 - |x|) / 2, which is exact."""
    size = abs(x)
    is_near = size < 0.5
    square = is_near.if_true(x * x, 0.5 - 0.5 * size)
    root = is_near.if_true(size, square.root())
    rest = root * square * polynomial(square, _NEAR)
    total, error = exact_sum(x.constant(_QUARTER), -2.0 * root)
    far = total + (error + (_QUARTER_LOW - 2.0 * rest))
    return is_near.if_true(root + rest, far).with_sign_of(x)
