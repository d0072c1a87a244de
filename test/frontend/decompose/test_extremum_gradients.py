"""Gradients of the largest, smallest and middle of all elements are eager's, whatever the incoming gradient is."""

import pytest
import torch

from dovetail.frontend.decompose.python_kernels import without_python_kernels

NAN, INF = torch.nan, torch.inf
OPS = [torch.max, torch.min, torch.median, torch.nanmedian]
VALUES = {
    "ties": torch.tensor([[1.0, 3.0, 3.0], [-2.0, 1.0, -2.0], [1.0, 0.5, 0.0]]),
    "nan": torch.tensor([1.0, NAN, 3.0, NAN]),
    "infinities": torch.tensor([INF, -INF, INF, 0.0, -INF]),
    "transposed": torch.arange(12.0).view(3, 4).t(),
    "one": torch.tensor(2.0),
}


@pytest.mark.parametrize("op", OPS)
def test_elements_not_taken_have_no_gradient(op_by_op, op):
    """Catches 0 times an infinite gradient: NaN for every element."""

    def of_each(*values):
        return [op(value) * scale for value in values for scale in (2.0, INF, NAN)]

    def gradients(function):
        leaves = [value.clone().requires_grad_() for value in VALUES.values()]
        results = iter(function(*leaves))
        return [torch.autograd.grad(next(results), leaf, retain_graph=True)[0] for leaf in leaves for _ in range(3)]

    compiled = torch.compile(of_each, backend="dovetail", options={"strict": op in (torch.max, torch.min)})
    torch.testing.assert_close(gradients(compiled), gradients(of_each), equal_nan=True)


@pytest.mark.parametrize("op", OPS)
def test_second_derivative(op_by_op, op):
    """Catches a gradient that is taken for a constant."""

    def square(x):
        return op(x) ** 2

    def second(function):
        x = torch.tensor([1.0, 3.0, 3.0, -2.0, 3.5], requires_grad=True)
        (first,) = torch.autograd.grad(function(x), x, create_graph=True)
        return torch.autograd.grad(first.square().sum(), x)[0]

    torch.testing.assert_close(second(torch.compile(square, backend="dovetail")), second(square))


@pytest.mark.parametrize("transform", [torch.func.grad, torch.vmap])
def test_inside_of_transforms(op_by_op, transform):
    """Catches a graph that can't be traced, since a custom function knows no transforms."""

    def transformed(x):
        return transform(lambda each: (each + each).max())(x)

    compiled = torch.compile(transformed, backend="dovetail", options={"strict": True})
    x = torch.tensor([[1.0, 3.0, 3.0], [-2.0, 1.0, 0.5]])
    torch.testing.assert_close(compiled(x), transformed(x))


def test_kernels_are_as_before():
    """Another backend in the same process would trace ours."""
    with without_python_kernels(()):
        assert torch._C.DispatchKey.Autograd in torch.ops.aten.max.default.py_kernels
    assert torch._C.DispatchKey.Autograd not in torch.ops.aten.max.default.py_kernels
