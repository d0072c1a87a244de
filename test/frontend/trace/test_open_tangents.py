"""How gradients of results of open sizes lie."""

from collections.abc import Callable

import pytest
import torch

import dovetail

COPIED = "gradient in another memory layout than traced"


def turned(x: torch.Tensor) -> torch.Tensor:
    return x.mT.sin()


def with_known_rows(x: torch.Tensor) -> torch.Tensor:
    return (x.movedim(0, -1) * 3).exp()


def in_rows(x: torch.Tensor) -> torch.Tensor:
    return x.mT.sin().contiguous()


def expanded(x: torch.Tensor) -> torch.Tensor:
    return x[..., :1].mT.expand(*x.mT.shape) + x.mT.cos()


@pytest.mark.parametrize("function", [turned, with_known_rows, in_rows, expanded], ids=lambda each: each.__name__)
def test_gradients_lie_as_results(function: Callable, op_by_op: None):
    """Would catch a gradient that is copied though it lies as its result, and one taken as it is that does not."""
    dovetail.stats(reset=True)
    compiled = torch.compile(function, backend="dovetail", fullgraph=True)
    for sizes in ((4, 5, 6), (7, 2, 6), (2, 33, 6)):
        given = torch.randn(sizes)
        torch._dynamo.mark_dynamic(given, [0, 1])
        tangents = [torch.randn_like(function(given)), torch.randn(()).expand(function(given).shape)]
        tangents.append(tangents[0].mT.contiguous().mT)
        for number, tangent in enumerate(tangents):
            ours, theirs = (given.clone().requires_grad_() for _ in range(2))
            torch._dynamo.mark_dynamic(ours, [0, 1])
            result, expected = compiled(ours), function(theirs)
            assert result.stride() == expected.stride()
            before = dovetail.stats().copies[COPIED]
            result.backward(tangent)
            expected.backward(tangent)
            assert number > 0 or dovetail.stats().copies[COPIED] == before
            torch.testing.assert_close(ours.grad, theirs.grad)
            assert ours.grad.stride() == theirs.grad.stride()
    assert dovetail.stats().graphs == 1
    assert not dovetail.stats().specialised
