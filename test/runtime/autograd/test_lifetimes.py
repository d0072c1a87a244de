"""What lives on when a call's results and arguments are dropped: nothing, as in eager."""

import gc
import weakref

import pytest
import torch
from torch.nn.functional import gelu, layer_norm
from torch.testing._internal.two_tensor import TwoTensor

import dovetail

pytestmark = pytest.mark.usefixtures("op_by_op", "young_garbage")


def alive(fn, after, has_history: bool) -> int:
    """How many arguments of three calls are alive, each dropped after `after(argument, result)`."""
    arguments = []
    for _ in range(3):
        leaf = torch.randn(3, requires_grad=has_history)
        argument = leaf * 1
        after(argument, fn(argument, leaf))
        arguments.append(weakref.ref(argument))
        del leaf, argument
    gc.collect()
    return sum(each() is not None for each in arguments)


def nothing(argument, result):
    pass


def backward(argument, result):
    result.sum().backward()


def written(argument, result):
    argument += result


def doubled(x, leaf):
    x.mul_(2)
    return x.sin()


def with_its_own(x, leaf):
    x.add_(x.detach().exp())
    return x.sin()


def stopped(x, leaf):
    return x + 1 + (x.detach() * leaf).relu()


@pytest.mark.parametrize("fn", [doubled, with_its_own])
def test_a_written_argument_is_dropped(fn):
    """Catches a leak of each step's activations: what wrote the argument leads to the call, which held it."""
    torch._dynamo.reset()
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    for after in (nothing, backward):
        assert alive(compiled, after, True) == alive(fn, after, True) == 0


@pytest.mark.parametrize(
    "fn",
    [
        lambda x, leaf: (x * 2 + 1).tanh(),
        lambda x, leaf: gelu(x * 2),
        lambda x, leaf: layer_norm(x + 1, (3,)),
        lambda x, leaf: (x + 1).sin() + (x * 2).exp(),
        lambda x, leaf: x.sin(),
        stopped,
    ],
    ids=["tanh", "gelu", "layer norm", "two", "saved", "stopped"],
)
def test_an_argument_that_the_caller_writes_is_dropped(fn):
    """Catches the same of `h += block(h)`: what the call had saved, or a second derivative would take."""
    torch._dynamo.reset()
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    for has_history in (True, False):
        assert alive(compiled, written, has_history) == 0


def test_an_argument_without_history_is_dropped():
    """Catches the same of an argument that required no gradient until it was written."""

    def fn(x, weight):
        return (x * 2 * weight).tanh()

    torch._dynamo.reset()
    compiled, arguments = torch.compile(fn, backend="dovetail", fullgraph=True), []
    for _ in range(3):
        weight, argument = torch.randn(3, requires_grad=True), torch.zeros(3)
        argument += compiled(argument, weight)
        arguments.append(weakref.ref(argument))
        del argument
    gc.collect()
    assert not any(each() for each in arguments)


def test_second_derivatives_reach_what_is_dropped():
    """Catches stand-ins without the arguments' histories, or of other values: second derivatives end at these."""
    torch._dynamo.reset()

    def fn(x, y):
        return (x * y.exp()).tanh()

    found = []
    for function in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        leaf = torch.arange(3.0).requires_grad_()
        x, y = leaf * 2, leaf.sin()
        result = function(x, y)
        (first,) = torch.autograd.grad(result.sum(), x, create_graph=True)
        found.append((first, *torch.autograd.grad(first.sum(), [leaf, y])))
    torch.testing.assert_close(*found)


def test_what_can_not_be_differentiated_again_says_so():
    """Catches gradients that count as constants where the argument's memory is gone by then."""
    torch._dynamo.reset()
    leaf = torch.arange(3.0).requires_grad_()
    result = torch.compile(with_its_own, backend="dovetail", fullgraph=True)(leaf * 1, leaf)
    (first,) = torch.autograd.grad(result.sum(), leaf, create_graph=True)
    with pytest.raises(RuntimeError, match="can't be differentiated again"):
        first.sum().backward()


def test_a_wrapper_that_the_caller_writes_is_dropped():
    """Catches the same of a wrapper subclass, whose version the backward checks."""

    def fn(x):
        return (x + 1) * x.detach()

    torch._dynamo.reset()
    compiled, arguments = torch.compile(fn, backend="dovetail", fullgraph=True), []
    for _ in range(3):
        argument = TwoTensor(torch.ones(3), torch.ones(3)).requires_grad_() * 1
        argument += compiled(argument)
        arguments.append(weakref.ref(argument))
        del argument
    gc.collect()
    assert not any(each() for each in arguments)


def test_what_is_held_for_second_derivatives_is_counted():
    """Catches a report of half of what a call holds: the argument lives on, too, beside what its backward takes."""
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    layer = torch.nn.Linear(4, 4)
    compiled = torch.compile(lambda x: layer(x.tanh()), backend="dovetail", fullgraph=True)
    compiled(torch.randn(8, 4, requires_grad=True) * 1)
    assert dovetail.stats().held_bytes == 8 * 4 * 4
