"""Gradients of the largest, smallest and middle of all elements are eager's, whatever the incoming gradient is."""

import pytest
import torch

from dovetail.frontend.trace.extremum_gradients import extremum_gradients

NAN, INF = torch.nan, torch.inf
OPS = [torch.max, torch.min, torch.median, torch.nanmedian]


def gradient(function, value: torch.Tensor) -> torch.Tensor:
    leaf = value.clone().requires_grad_()
    return torch.autograd.grad(function(leaf), leaf)[0]


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("scale", [2.0, INF, NAN])
@pytest.mark.parametrize(
    "value",
    [
        torch.tensor([[1.0, 3.0, 3.0], [-2.0, 1.0, -2.0], [1.0, 0.5, 0.0]]),
        torch.tensor([1.0, NAN, 3.0, NAN]),
        torch.tensor([INF, -INF, INF, 0.0, -INF]),
        torch.arange(12.0).view(3, 4).t(),
        torch.tensor(2.0),
    ],
    ids=["ties", "nan", "infinities", "transposed", "one"],
)
def test_elements_not_taken_have_no_gradient(op_by_op, op, scale, value):
    """Catches 0 times an infinite gradient: NaN for every element."""

    def scaled(x):
        return op(x) * scale

    compiled = torch.compile(scaled, backend="dovetail", options={"strict": op in (torch.max, torch.min)})
    torch.testing.assert_close(gradient(compiled, value), gradient(scaled, value), equal_nan=True)


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
    with extremum_gradients():
        assert torch._C.DispatchKey.Autograd in torch.ops.aten.max.default.py_kernels
    assert torch._C.DispatchKey.Autograd not in torch.ops.aten.max.default.py_kernels
