"""Saved values that eager would not have saved, seen by the caller's hooks."""

import torch


def test_hook_that_returns_another_dtype():
    """A mask that is saved in place of `relu`'s result comes back as numbers: the backward stops where eager runs."""

    def fn(x, weight):
        return (x @ weight).relu()

    gradients = []
    for function in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        leaves = [torch.linspace(-1, 1, 16).reshape(4, 4).requires_grad_() for _ in range(2)]
        with torch.autograd.graph.saved_tensors_hooks(torch.Tensor.double, torch.Tensor.float):
            result = function(*leaves)
        result.sum().backward()
        gradients.append([leaf.grad for leaf in leaves])
    torch.testing.assert_close(gradients[1], gradients[0])
