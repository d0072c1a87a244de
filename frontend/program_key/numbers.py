"""Python's numbers as text, which tells their type and all of their bits."""

from dovetail.frontend.program_key.unkeyed import Unkeyed

NUMBERS = (bool, int, float, complex)


def number_text(number: object) -> str:
    """The text of a number of one of `NUMBERS`; raises Unkeyed for NaN, whose sign and payload have no text."""
    if number != number:
        raise Unkeyed("a number is NaN")
    return repr(number)
