"""Arithmetic of Python's numbers that no operator of Python's does."""

import math


def quotient(dividend: float, divisor: float) -> float:
    """A quotient by IEEE 754's rules, section 7.3: by a zero it is infinite, and NaN of a zero or a NaN."""
    return dividend / divisor if divisor else dividend * math.copysign(math.inf, divisor)
