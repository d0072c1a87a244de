"""That a graph has no key, and why. Numbers as text, which tells their type and all of their bits, but of NaN."""


class Unkeyed(Exception):
    """Text can't tell what decides the graph's program; the message names the thing."""


NUMBERS = (bool, int, float, complex)


def number_text(number: object) -> str:
    """The text of a number of one of `NUMBERS`; raises Unkeyed for NaN, whose sign and payload have no text."""
    if number != number:
        raise Unkeyed("a number is NaN")
    return repr(number)
