"""The additions that a sum is made of, in the order that ATen's kernels take.

ATen adds 16 numbers in a row, then 16 of these sums, and so on: the error of few hundred numbers is that of some 30
roundings, and grows with the logarithm of their count.
"""

import math
from collections.abc import Iterator, Sequence

import torch

aten = torch.ops.aten

IN_A_ROW = 16
MEANS = (aten.mean.default, aten.mean.dim)
SUMS = (aten.sum.default, aten.sum.dim_IntList, *MEANS)


def terms(args: Sequence) -> torch.Tensor:
    """What one of `SUMS` adds up, of shape (elements of the result, addends of each)."""
    value: torch.Tensor = args[0]
    dims = (args[1] if len(args) > 1 else None) or [*range(value.dim())]
    addends = math.prod(value.size(dim) for dim in dims)
    return value.movedim(dims, [*range(-len(dims), 0)]).reshape(-1, addends)


def additions(terms: torch.Tensor, in_a_row: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """What is added along the last dimension, and what that gives, level by level.

    The latter is 0 where 0 is added, which rounds nothing.
    """
    while terms.size(-1) > 1:
        rows = torch.nn.functional.pad(terms, (0, -terms.size(-1) % in_a_row)).unflatten(-1, (-1, in_a_row))
        partial = rows.cumsum(-1)
        terms = partial[..., -1]
        added = rows[..., 1:].flatten(-2)
        yield added, partial[..., 1:].flatten(-2).where(added != 0, 0.0)
