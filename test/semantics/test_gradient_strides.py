"""Opaque ops in the backward are given their operands with eager's strides, however the caller's gradients lie.

The op here multiplies by a number that the strides tell, so another layout is another gradient.
"""

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional

import dovetail
from dovetail.errors import EagerWarning


def _told(*tensors: torch.Tensor) -> float:
    strides = [stride for each in tensors for size, stride in zip(each.shape, each.stride(), strict=True) if size > 1]
    return 1 + sum(stride * 3**index for index, stride in enumerate(strides)) / 64


@torch.library.custom_op("dovetail_layout::scaled", mutates_args=())
def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * _told(x)


@torch.library.custom_op("dovetail_layout::scaled_all", mutates_args=())
def scaled_all(tensors: list[torch.Tensor], other: torch.Tensor) -> torch.Tensor:
    return tensors[0] * _told(*tensors, other)


@torch.library.custom_op("dovetail_layout::record", mutates_args={"log"})
def record(log: torch.Tensor, x: torch.Tensor) -> None:
    log.fill_(_told(x))


scaled.register_fake(torch.empty_like)
scaled_all.register_fake(lambda tensors, other: torch.empty_like(tensors[0]))
scaled.register_autograd(lambda _, gradient: scaled(gradient))


class Listed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return scaled_all([gradient, x], gradient.mT)


class Recorded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        log = gradient.new_zeros(1)
        record(log, gradient)
        return gradient * log


PROGRAMS = {
    "itself": scaled,
    "transposed": lambda x: scaled(x).mT,
    "product": lambda x: scaled(x) * x.cos(),
    "chain": lambda x: scaled(scaled(x).mT).exp(),
    "sum of two paths": lambda x: (lambda y: y * x + y.mT.exp().mT)(scaled(x)),
    "reduced": lambda x: scaled(x).sum(0),
    "kernel": lambda x: functional.log_softmax(scaled(x), 1),
    "one of several results": lambda x: functional.layer_norm(scaled(x), [6]),
    "several results": lambda x: (lambda y: functional.layer_norm(y, [6], y[0], y[1]))(scaled(x)),
    "matrix": lambda x: scaled(x) @ x.mT,
    "list": Listed.apply,
    "writes": Recorded.apply,
    "views of it": lambda x: (lambda y: (y[1:], y.mT))(scaled(x)),
}
ARGUMENTS = {"rows": lambda: torch.randn(4, 6), "columns": lambda: torch.randn(6, 4).mT}
TANGENTS = {
    "like the result": torch.ones_like,
    "rows": lambda result: torch.ones(result.shape),
    "reversed": lambda result: torch.ones(result.shape[::-1]).permute(*reversed(range(result.dim()))),
    "expanded": lambda result: torch.ones(()).expand(result.shape),
    "strided": lambda result: torch.ones([2 * each for each in result.shape])[(slice(None, None, 2),) * result.dim()],
}


def _gradient(function: Callable, x: torch.Tensor, tangent: Callable) -> torch.Tensor:
    leaf = x.detach().requires_grad_()
    results = function(leaf)
    results = results if isinstance(results, tuple) else (results,)
    (gradient,) = torch.autograd.grad(results, leaf, [tangent(result.detach()) for result in results])
    return gradient


@pytest.mark.parametrize("argument", ARGUMENTS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients(program: str, argument: str, op_by_op: None):
    """Would catch a gradient that is copied to the traced layout before an op that tells: silently another number."""
    function, x = PROGRAMS[program], ARGUMENTS[argument]()
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="dovetail", fullgraph=True)
    for name, tangent in TANGENTS.items():
        expected, actual = (_gradient(each, x, tangent) for each in (function, compiled))
        torch.testing.assert_close(actual, expected, msg=lambda text, name=name: f"{name}: {text}")


def test_second_derivatives(op_by_op: None):
    """Would catch the traced layout where the gradient is differentiated: it is computed again, op by op."""

    def fn(x):
        return scaled(x).mT.sin()

    def second(function):
        x = torch.linspace(-1, 1, 24).reshape(4, 6).requires_grad_()
        tangent = torch.linspace(1, 2, 24).reshape(6, 4).requires_grad_()
        (first,) = torch.autograd.grad(function(x), x, tangent, create_graph=True)
        return torch.autograd.grad(first.square().sum(), [x, tangent])

    torch.testing.assert_close(second(torch.compile(fn, backend="dovetail", fullgraph=True)), second(fn))


def test_infinite_values_of_absent_gradients(op_by_op: None):
    """Would catch the traced layout where a backward from some results runs again without the others."""

    def fn(x):
        return scaled(x) * 2, (x * 0).log()

    def gradient(function):
        x = torch.ones(4, 6, requires_grad=True)
        first, _ = function(x)
        return torch.autograd.grad(first, x, torch.ones(6, 4).mT)

    expected = gradient(fn)
    with pytest.warns(EagerWarning, match="met infinite values"):
        actual = gradient(torch.compile(fn, backend="dovetail", fullgraph=True))
    torch.testing.assert_close(actual, expected)


def test_gradients_of_what_cannot_tell_are_copied(op_by_op: None):
    """Would catch a graph without opaque ops that takes gradients as they come, and lays them out at each use."""
    dovetail.stats(reset=True)
    x = torch.randn(4, 6, requires_grad=True)
    compiled = torch.compile(lambda x: x.sin(), backend="dovetail", fullgraph=True)
    compiled(x).backward(torch.ones(6, 4).mT)
    assert dovetail.stats().copies["gradient in another memory layout than traced"] == 1
