"""Gradients of embeddings on a GPU, without the sort by which ATen finds what belongs to one row."""

from collections.abc import Callable

import torch
from torch.fx.experimental.symbolic_shapes import guard_or_false

from dovetail.dialects.torch_facts.empty import is_empty

aten = torch.ops.aten

_FEW_ROWS = 4
"""As many as are added up one by one, each reading all gradients: kinds of tokens."""
_UNSORTED_BY_ATEN = 3072
"""Up to so many indices ATen has a kernel that does not sort, in two launches with the fill of zeros."""
_LARGEST = 1 << 26
"""Numbers of a table: of larger ones, two sums take longer than the launches of a sort."""


def _embedding_dense_backward(
    gradient: torch.Tensor, indices: torch.Tensor, rows: int, padding: int, scales_by_frequency: bool
) -> torch.Tensor:
    """Of a table of few rows a sum for each, else rows added to zeros where they belong; decision 69 says when.

    ATen sorts the indices, in 27 launches. What is added in the order of arrival is not the same twice, so where
    deterministic algorithms are asked for, that stays. Of rows of no numbers ATen's kernels read where no memory is.
    """
    if gradient.device.type == "cuda" and guard_or_false(gradient.size(-1) == 0):
        return gradient.new_zeros(rows, 0)
    if gradient.device.type != "cuda" or gradient.dtype is not torch.float32 or scales_by_frequency:
        return NotImplemented
    if is_empty(gradient) or not guard_or_false(indices.numel() > _UNSORTED_BY_ATEN):
        return NotImplemented
    flat, terms = indices.reshape(-1), gradient.reshape(-1, gradient.size(-1))
    if guard_or_false(rows <= _FEW_ROWS):
        return torch.stack([_sum_of(row, padding, flat, terms) for row in range(rows)])
    is_large = not guard_or_false(rows * terms.size(-1) <= _LARGEST)
    if torch.are_deterministic_algorithms_enabled() or is_large:
        return NotImplemented
    if padding >= 0:
        terms = torch.where((flat == padding).unsqueeze(-1), 0.0, terms)
    return _added(flat, terms, rows)


def _sum_of(row: int, padding: int, indices: torch.Tensor, terms: torch.Tensor) -> torch.Tensor:
    if row == padding:
        return terms.new_zeros(terms.size(-1))
    return torch.where((indices == row).unsqueeze(-1), terms, 0.0).sum(0)


def _added(indices: torch.Tensor, terms: torch.Tensor, rows: int) -> torch.Tensor:
    """The sums of the `terms` of each row.

    Where few rows have some, both sums of a row stand where one of its terms did, whichever came last, and are added to
    zeros then: most of what two tables and their sum move would be zeros.
    """
    count = terms.size(0)
    if not guard_or_false(2 * count <= rows):
        sums = _sums(indices, indices + rows, terms, 2 * rows)
        return sums[:rows] + sums[rows:]
    last = torch.arange(count, dtype=indices.dtype, device=indices.device)
    one = aten.scatter(indices.new_zeros(rows), 0, indices.long(), last).gather(0, indices.long())
    sums = _sums(one, one + count, terms, 2 * count)
    return aten.index_add(terms.new_zeros(rows, terms.size(1)), 0, indices, sums[:count] + sums[count:])


def _sums(indices: torch.Tensor, others: torch.Tensor, terms: torch.Tensor, rows: int) -> torch.Tensor:
    """Of the first eight bits of `terms`, which mostly are exact, at `indices`, and of the rest of them at `others`.

    One sum of all bits rounds at each term, ATen at each tenth: of a frequent word its error was ten times eager's.
    `isinf` decides by no last bit; a comparison would have all that the terms are computed of computed once only.
    """
    rounded = terms.to(torch.bfloat16).to(torch.float32)
    is_whole = rounded.isinf()
    both = torch.cat([torch.where(is_whole, terms, rounded), torch.where(is_whole, 0.0, terms - rounded)])
    return aten.index_add(terms.new_zeros(rows, terms.size(1)), 0, torch.cat([indices, others]), both)


EMBEDDING_GRADIENTS: dict[torch._ops.OpOverload, Callable] = {
    aten.embedding_dense_backward.default: _embedding_dense_backward,
}
