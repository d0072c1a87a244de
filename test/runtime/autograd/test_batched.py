"""Batched gradients: of a backward inside of `vmap`, or with `is_grads_batched=True`."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch._vmap_internals import _vmap as vmap_of_old_kind
from torch.func import vmap

from dovetail.runtime.autograd.batched import one_by_one

pytestmark = pytest.mark.usefixtures("op_by_op")


def mixed(x):
    return x.sin() * x.sum(), x.softmax(0).cumsum(0)


def batched(call, x, create_graph=False):
    y, _ = call(x)
    directions = torch.eye(len(x)).t()
    return torch.autograd.grad(y, x, directions, is_grads_batched=True, create_graph=create_graph)[0]


def twice(call, x):
    first = batched(call, x, create_graph=True)
    return first, torch.autograd.grad(first.pow(2).sum(), x)[0]


def inside_of_vmap(call, x):
    _, y = call(x)
    return vmap(lambda each: torch.autograd.grad(y, x, each, retain_graph=True)[0], in_dims=1)(torch.eye(len(x)))


def inside_of_two(call, x):
    y, z = call(x)

    def of(scale, direction):
        return torch.autograd.grad((y, z), x, (scale * direction, direction), retain_graph=True)[0]

    return vmap(lambda scale: vmap(lambda each: of(scale, each))(torch.eye(len(x))))(torch.ones(2))


def of_an_empty_batch(call, x):
    y, _ = call(x)
    return vmap(lambda each: torch.autograd.grad(y, x, each)[0])(torch.zeros(0, len(x)))


def jacobian(call, x):
    return torch.autograd.functional.jacobian(lambda x: call(x)[1], x, vectorize=True)


def hessian(call, x):
    return torch.autograd.functional.hessian(lambda x: call(x)[0].sum(), x, vectorize=True)


@pytest.mark.parametrize(
    "use",
    [batched, twice, inside_of_vmap, inside_of_two, of_an_empty_batch, jacobian, hessian],
    ids=lambda each: each.__name__,
)
def test_batched_gradients(use):
    """Catches a backward that reads a batched gradient's memory, or copies it to one without its batch: both raise."""
    x = torch.randn(4, requires_grad=True)
    expected = use(mixed, x)
    actual = use(torch.compile(mixed, backend="dovetail", fullgraph=True), x)
    torch.testing.assert_close(actual, expected)


def test_saved_values_outlive_the_batch():
    """Catches a saved value that the backward of the first element overwrites, or lets go of."""
    x, weight = torch.randn(5, 3, requires_grad=True), torch.randn(3, 3, requires_grad=True)

    def fn(x, weight):
        return ((x @ weight).tanh() * 2).exp()

    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    directions = torch.randn(6, 5, 3)
    expected, actual = (
        torch.autograd.grad(each(x, weight), (x, weight), directions, is_grads_batched=True) for each in (fn, compiled)
    )
    torch.testing.assert_close(actual, expected)


def test_second_backward_raises_as_in_eager():
    """Catches a batch that is let go of twice, or not at all."""
    x = torch.randn(3, requires_grad=True)
    y = torch.compile(torch.sin, backend="dovetail", fullgraph=True)(x)
    torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)


def test_batch_in_another_thread():
    """Catches a level that only the caller's thread knows: a GPU's gradients, of a thread of its own, had no end."""

    def inner(gradient):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(one_by_one, [gradient, None], lambda given: [given[0].square(), None]).result()[0]

    gradients = torch.randn(2, 3, 4)
    torch.testing.assert_close(vmap_of_old_kind(vmap_of_old_kind(inner))(gradients), gradients.square())
