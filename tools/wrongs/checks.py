"""Checks in the compiled function."""

import torch

from dovetail.tools.wrongs.case import Case, Facts


def successor_of_positive(x):
    torch._assert_async((x > 0).all())
    return x + 1


def of_a_negative_number(function) -> Facts:
    """What a compiler raises is another type, derived from `RuntimeError`."""
    try:
        function(torch.tensor([-1.0]))
    except RuntimeError as error:
        if type(error) is RuntimeError:
            return {"raises": True}
        raise
    return {"raises": False}


CASES = [
    Case("assert_async", "`torch._assert_async` that does not hold", successor_of_positive, (of_a_negative_number,))
]
