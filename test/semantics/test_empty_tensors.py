"""Tensors without elements: views, strides, histories and version counters are those of others."""

import torch
from differential import assert_same


def test_flattened_argument():
    """Catches a view that is taken for a tensor of its own: on tensors without memory it has another storage."""

    def fn(x, y):
        y.view(-1).add_(2)
        return x.flatten()

    assert_same(fn, torch.zeros(0, 2), prepare=lambda x: (x, x.view_as(x)))


def test_part_of_a_result_that_is_laid_out_like_its_operand():
    """Catches an offset by other strides: the kernel multiplies the sizes, of which one is 0."""
    assert_same(lambda x: (x * 2)[:, 1:2], torch.zeros(2, 0), prepare=lambda x: (x.transpose(0, 1),))


def test_views_of_one_tensor_have_one_history():
    """Catches "modified by an inplace operation" of a view whose sibling the call writes."""

    def fn(x, y):
        y[...].add_(2)
        return y * x

    def prepare(x):
        x = x[1:1] * 1
        return x, x[...]

    assert_same(fn, torch.ones(3).requires_grad_(), prepare=prepare)


def test_same_tensor_twice():
    """Catches a history that one of the two does not get."""

    def fn(x, y):
        x.mul_(y.exp())
        return x + 1

    def prepare(x):
        x = x * 1
        return x, x

    assert_same(fn, torch.ones(0, 3).requires_grad_(), prepare=prepare)


def test_double_backward_through_a_view_whose_base_was_written():
    """Catches a gradient of a gradient where eager has none: autograd makes the view's node anew as `as_strided`."""

    def fn(x):
        view = x.narrow(0, 2, 0)
        view.detach().fill_(2)
        return view

    for function in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        x = torch.ones(4, requires_grad=True)
        (gradient,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
        assert not gradient.requires_grad
