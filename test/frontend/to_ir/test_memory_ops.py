"""What is scattered to slices of tensors of open sizes."""

from collections.abc import Callable

import pytest
import torch

import dovetail

REASON = "fallback: slice_scatter of open sizes"


def every_second(x: torch.Tensor) -> torch.Tensor:
    return x[:, ::2] * 2


def whole(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x[:] * 2, x[:, :].sin()], 1)


def written(x: torch.Tensor) -> torch.Tensor:
    y = x * 3
    y[:, 0:] = x.cos()
    return y + x


def a_part(x: torch.Tensor) -> torch.Tensor:
    return x[1:].exp() + x[:-1]


@pytest.mark.parametrize(
    ("function", "count"),
    [(every_second, 1), (whole, 0), (written, 0), (a_part, 2)],
    ids=lambda each: getattr(each, "__name__", str(each)),
)
def test_slices_of_open_sizes(function: Callable, count: int, op_by_op: None):
    """Would catch a copy for the gradient of `x[:]`, and a part of a tensor that is taken for all of it."""
    dovetail.stats(reset=True)
    compiled = torch.compile(function, backend="dovetail", fullgraph=True, dynamic=True)
    for sizes in ((4, 5), (7, 3), (3, 33)):
        ours = torch.randn(sizes).requires_grad_()
        theirs = ours.detach().clone().requires_grad_()
        results = compiled(ours), function(theirs)
        for result in results:
            result.square().sum().backward()
        torch.testing.assert_close(*results)
        torch.testing.assert_close(ours.grad, theirs.grad)
    assert dovetail.stats().graphs == 1
    assert dovetail.stats().library_calls["aten.slice_scatter.default", REASON] == count
