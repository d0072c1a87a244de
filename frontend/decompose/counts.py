"""How many elements there are: numbers that Dynamo may leave open stay so."""

import torch


def counted(value: torch.Tensor, dims: list[int]):
    """How many elements `value` has along `dims`."""
    count = 1
    for each in dims:
        count = count * value.size(each)  # `math.prod` would ask what an open size is now
    return count


def divisor(count):
    """A count as what a tensor is divided by: a number of Python's that is known is a float."""
    return float(count) if isinstance(count, int) else count
