"""Sizes that change from call to call, in compiled regions, and what is compiled after."""

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


def test_updates_of_changing_size():
    """An argument of open sizes is copied to, where one of known sizes is updated in place, or the rest of a vector is
    computed of what was just written; one that does not lie row by row is taken for one that does."""
    torch._dynamo.reset()

    def step(weight, momentum, gradient, turned):
        momentum.mul_(0.5).add_(gradient)
        weight.sub_(momentum * gradient.flip(0))
        turned.mul_(2)
        return gradient.sum(1)

    def make(rows, columns):
        return [torch.randn(rows, columns) for _ in range(3)] + [torch.randn(columns, rows).t()]

    compiled = torch.compile(step, backend="dovetail", dynamic=True, fullgraph=True)
    dovetail.stats(reset=True)
    for rows, columns in ((4, 7), (33, 5), (2, 300), (33, 5)):
        arguments = make(rows, columns)
        copies = [argument.clone(memory_format=torch.preserve_format) for argument in arguments]
        torch.testing.assert_close(compiled(*arguments), step(*copies))
        torch.testing.assert_close(arguments, copies)
        assert [argument._version for argument in arguments] == [copy_._version for copy_ in copies]
    stats = dovetail.stats()
    assert stats.graphs == 1
    assert stats.copies["value into a mutated input"] == 4  # `turned`, in each call


def test_sums_across_open_sizes():
    """A sum over several open dimensions, but not the last ones, shared IREE's loop with other ops.

    That got memory of other sizes, so that the process wrote beyond it, and numbers were wrong. So were they of a norm
    over the last ones, whose number per row is kept for the backward.
    """

    dimensions = {(0, 2, 3): 4, (0, 1): 3, (1, 2): 4}

    def centred(x, weight, *given):
        means = [x.mean(over, keepdim=True) for x, over in zip(given, dimensions, strict=True)]
        others = [(mean, x - mean, (x - mean).relu()) for x, mean in zip(given, means, strict=True)]
        return [torch.rms_norm(x, weight.shape, weight), *(each for three in others for each in three)]

    torch._dynamo.reset()
    compiled = torch.compile(centred, backend="dovetail", dynamic=True, fullgraph=True)
    for sizes in ((2, 9, 4, 5), (3, 4, 11, 6), (7, 3, 5, 5)):
        shapes = [sizes[:3], sizes[1:3], *(sizes[:rank] for rank in dimensions.values())]
        given = [torch.randn(shape, requires_grad=True) for shape in shapes]
        actual, expected = compiled(*given), centred(*given)
        torch.testing.assert_close(actual, expected)
        squares = [sum((result * result).sum() for result in results) for results in (actual, expected)]
        torch.testing.assert_close(*[torch.autograd.grad(each, given) for each in squares])
