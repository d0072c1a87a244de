"""Sizes that change from call to call, and what is compiled after."""

import torch

import dovetail


def test_results_of_changing_size():
    """A result of a later call has the first call's size, or what is compiled after it takes it for fixed and fails."""
    torch._dynamo.reset()
    first = torch.compile(lambda x: (x * x.shape[0]).t(), backend="dovetail", dynamic=True, fullgraph=True)
    second = torch.compile(lambda y: y.sum(0) + y.shape[1], backend="dovetail", dynamic=True, fullgraph=True)
    graphs = dovetail.stats().graphs
    for size in (2, 3, 5, 3):
        x = torch.arange(size * 3.0).reshape(size, 3).requires_grad_()
        middle = first(x)
        result = second(middle)
        result.sum().backward()
        assert middle.size() == (3, size)
        assert middle.stride() == (1, 3)
        torch.testing.assert_close(result, (x * size).sum(1) + size)
        torch.testing.assert_close(x.grad, torch.full_like(x, size))
    assert dovetail.stats().graphs == graphs + 2
