"""The next whole number. Of float64, IREE links a function for `floor` alone where CPUs lack instructions (SSE4.1)."""

from dovetail.backends.elementary.scalar import Scalar


def ceil(x: Scalar) -> Scalar:
    """Exact, of zeros, infinities and NaN too."""
    return -(-x).floor()
