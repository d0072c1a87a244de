"""Elements that are chosen in their own order, against eager."""

import pytest
import torch
from torch.nn import functional

import dovetail


def looked_up(x: torch.Tensor, table: torch.Tensor) -> list[torch.Tensor]:
    rows, columns = torch.arange(x.shape[0]), torch.arange(x.shape[1])
    indices = functional.embedding(columns.unsqueeze(0), table)
    return [x[rows[:, None, None], columns], x[rows[:, None], columns] + 1, indices, x[columns[:2]] * 2, indices.sin()]


def test_counted_indices_need_no_library_call():
    """Catches masks and learned places that cost a kernel of ATen's for each index, results in others' memory, and
    gradients of the elements that were not chosen."""
    torch.manual_seed(0)
    arguments = [torch.randn(3, 5, requires_grad=True), torch.randn(7, 4, requires_grad=True)]
    dovetail.stats(reset=True)
    found = torch.compile(looked_up, backend="dovetail")(*arguments)
    forward = {op for op, _ in dovetail.stats().library_calls if "backward" not in op and "put" not in op}
    assert not {op for op in forward if "index" in op or "embedding" in op}
    expected = looked_up(*arguments)
    for result, eager in zip(found, expected, strict=True):
        torch.testing.assert_close(result, eager)
        assert result.stride() == eager.stride()
        assert all(result.data_ptr() != argument.data_ptr() for argument in arguments)
    tangents = [torch.randn_like(each) for each in expected]
    gradients = [torch.autograd.grad(results, arguments, tangents) for results in (found, expected)]
    for gradient, eager in zip(*gradients, strict=True):
        torch.testing.assert_close(gradient, eager)


def test_an_index_beyond_raises():
    """Catches an error that went away with the index it came from."""
    with pytest.raises((IndexError, RuntimeError), match=r"out of (bounds|range)"):
        torch.compile(lambda x: x[torch.arange(4)] + 1, backend="dovetail")(torch.randn(3, 2))


def test_an_index_of_two_dimensions_raises():
    """Catches a view in the place of `index_select` by what eager refuses, though fake tensors don't."""
    with pytest.raises(IndexError, match="Index is supposed to be a vector"):
        torch.compile(lambda x: x.index_select(1, torch.arange(2)[None]) + 1, backend="dovetail")(torch.randn(3, 2))
