"""Arguments that lie in each other's memory, one of them written: each way of sharing gets a program of its own."""

import warnings

import numpy
import pytest
import torch
from differential import assert_same

import dovetail
from dovetail.errors import EagerWarning, UnsupportedError

pytestmark = pytest.mark.usefixtures("op_by_op")


def write_first(x, y):
    x.mul_(2)
    x.add_(y.sum())
    return x[1:], y, y[2:]


WAYS = {
    "apart": lambda base: (base[:4].clone(), base[2:7].clone()),
    "overlapping": lambda base: (base[:4], base[2:7]),
    "same object": lambda base: (base, base),
    "part and whole": lambda base: (base[2:4], base),
    "same memory": lambda base: (base, base.data),
    "interleaved": lambda base: (base[::2], base[1::2]),
    "other sizes": lambda base: (base, base.view(8, 2)),
    "transposed": lambda base: (base.view(4, 4).t(), base.view(4, 4)),
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize("way", WAYS)
def test_way_of_sharing(way, grad):
    """Catches values, gradients, views or version counters that are those of another way (I12, I13, I14)."""
    start = torch.arange(16.0).requires_grad_(grad)
    assert_same(write_first, start, prepare=lambda base: WAYS[way](base * 1 if grad else base))


def test_neighbour_of_a_group():
    """Catches a group's span that begins before its first element: its neighbour would be taken for a part of it."""

    def fn(x, y, z):
        z.add_(1)
        return x * 1, y * 1

    assert_same(fn, torch.arange(16.0), prepare=lambda base: (base[0:3], base[3:7], base[3:5]))


def test_parameter_and_a_view_made_without_grad():
    """Catches a parameter that gets no gradient, since a view of it, which gets none, came first."""

    def fn(flat, weight):
        with torch.no_grad():
            flat.clamp_(max=2)
        return weight * weight

    gradients = []
    for function in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        weight = torch.arange(4.0).view(2, 2).requires_grad_()
        with torch.no_grad():
            flat = weight.view(-1)
        function(flat, weight).sum().backward()
        gradients.append(weight.grad)
    torch.testing.assert_close(gradients[1], gradients[0])


def test_negated_member():
    """Catches numbers of the wrong sign: a negative view shows other values than its memory holds."""

    def fn(x, y):
        x.add_(1)
        return y * 1

    start = torch.ones(4, dtype=torch.complex64) * (1 + 2j)
    with pytest.warns(EagerWarning, match="shares memory, and shows it negated"):
        assert_same(fn, start, prepare=lambda x: (x.imag, x.conj().imag), eager=True, graphs=0, train=False)


def test_memory_of_two_storages():
    """Catches an error where storages don't tell what addresses do."""
    array = numpy.ones(8, dtype=numpy.float32)
    compiled = torch.compile(lambda x, y: x.mul_(2) + y, backend="dovetail", fullgraph=True)
    assert compiled(torch.ones(4), torch.ones(4)).tolist() == [3.0] * 4
    with pytest.warns(EagerWarning, match="share memory in another way than assumed"):
        result = compiled(torch.from_numpy(array[:4]), torch.from_numpy(array[2:6]))
    assert result.tolist() == [4.0, 4.0, 3.0, 3.0]


def test_strict_call_that_would_run_eagerly():
    """Catches a strict program that runs a later call uncompiled after all."""
    array = numpy.ones(8, dtype=numpy.float32)
    compiled = torch.compile(lambda x, y: x.mul_(2) + y, backend="dovetail", fullgraph=True, options={"strict": True})
    compiled(torch.ones(4), torch.ones(4))
    with pytest.raises(UnsupportedError, match="share memory in another way than assumed"):
        compiled(torch.from_numpy(array[:4]), torch.from_numpy(array[2:6]))
    assert array.tolist() == [1.0] * 8


def test_optimizer_of_a_parameter_with_other_data():
    """Catches a step that writes where the parameter no longer lies: nobody guards the data of what a graph holds."""
    parameter = torch.nn.Parameter(torch.ones(8))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    step = torch.compile(optimizer.step, backend="dovetail")
    parameter.grad = torch.ones(8)
    step()
    memory, gradient = parameter.data, parameter.grad
    parameter.grad = None
    parameter.data = memory[:4]
    parameter.grad = gradient[:4]
    step()
    assert memory.tolist() == [-1.0] * 4 + [0.0] * 4


def test_derivative_of_a_written_sibling():
    """Catches a write that the second derivative repeats on what is written already; it must be refused."""

    def fn(buffer, weight):
        with torch.no_grad():
            buffer.add_(1)
        return (weight**3).sum()

    gradients = []
    for function in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        weight = torch.arange(4.0).requires_grad_()
        (gradient,) = torch.autograd.grad(function(weight.data, weight), weight, create_graph=True)
        gradients.append(gradient)
    torch.testing.assert_close(gradients[1], gradients[0])
    with pytest.raises(RuntimeError, match="can't be differentiated again"):
        torch.autograd.grad(gradients[1].sum(), weight)


def test_refused_second_derivative_reaches_its_inputs():
    """Catches a refused derivative that counts as a constant: a Hessian of zeros."""
    compiled = torch.compile(lambda x: (x * x * x.detach()).sum(), backend="dovetail", fullgraph=True)
    before = dovetail.stats().eager
    with pytest.raises(RuntimeError, match="can't be differentiated again"):
        torch.autograd.functional.hessian(compiled, torch.ones(3))
    assert dovetail.stats().eager == before


def test_slice_updated_by_another_slice():
    """Catches a backward that computes on where eager's raises: a slice's update writes what it saved."""

    def fn(x):
        x[0].mul_(x[1])
        return x * 1

    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    with pytest.warns(EagerWarning, match="autograd saved a value that is written later"):
        result = compiled(torch.ones(2, 3).requires_grad_() * 1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


@pytest.mark.parametrize("retains_at_first", [True, False])
def test_retained_gradient_of_what_a_view_of_it_writes(retains_at_first):
    """Catches a retained gradient of the tensor before the write, in the first call and in a later one."""

    def fn(x, view):
        view.fill_(2)
        return x * x

    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    for retains in (retains_at_first, True):
        gradients = []
        for function in (fn, compiled):
            x = torch.arange(3.0).requires_grad_() * 1
            if retains:
                x.retain_grad()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EagerWarning)
                function(x, x[...]).sum().backward()
            gradients.append(x.grad if retains else torch.zeros(3))
        torch.testing.assert_close(gradients[1], gradients[0])
