"""In-place changes between forward and backward: the compiled call raises where eager does, and only there."""

import gc
import weakref
from contextlib import suppress

import pytest
import torch

import dovetail

pytestmark = pytest.mark.usefixtures("op_by_op")

MODIFIED = "has been modified by an inplace operation"


def raises(fn, change, used=(0,), arguments=1, prepare=None) -> bool:
    """Whether a backward from the results `used` raises after `change(results, arguments)`, eager and compiled alike.

    Asserts that it raises each time if it does, before any gradient, and that gradients are eager's if it doesn't.
    """
    (expected,) = each_raises(fn, (change,), used, arguments, prepare)
    return expected


def each_raises(fn, changes, used=(0,), arguments=1, prepare=None) -> list[bool]:
    """The same for each of several changes, each after a call of its own of one compiled function."""
    torch._dynamo.reset()
    graphs = dovetail.stats().graphs
    compiled, found = torch.compile(fn, backend="dovetail", fullgraph=True), []
    for change in changes:
        (expected, gradients), (actual, computed) = (
            _outcome(function, change, used, arguments, prepare) for function in (fn, compiled)
        )
        assert actual == expected, change.__name__
        torch.testing.assert_close(computed, gradients)
        found.append(expected)
    assert dovetail.stats().graphs > graphs
    return found


def _outcome(fn, change, used, arguments, prepare) -> tuple[bool, list]:
    leaves = [(torch.arange(6.0).view(2, 3) / 5 + 0.1 + index).requires_grad_() for index in range(arguments)]
    given = prepare(*leaves) if prepare else [leaf * 1 for leaf in leaves]
    results = fn(*given)
    results = results if isinstance(results, tuple) else (results,)
    with torch.no_grad():
        change(results, given)
    loss = sum(results[index].sum() for index in used)
    with suppress(RuntimeError):
        loss.backward(retain_graph=True)
    computed = [leaf.grad for leaf in leaves]
    if any(gradient is not None for gradient in computed):
        return False, computed
    with pytest.raises(RuntimeError, match=MODIFIED):
        loss.backward()
    return True, computed


def change_argument(results, arguments):
    arguments[0].add_(1)


def change_last_argument(results, arguments):
    arguments[-1].add_(1)


def change_result(results, arguments):
    results[0].add_(1)


def change_through_view(results, arguments):
    results[0][:1].add_(1)


def change_argument_data(results, arguments):
    arguments[0].data.add_(0)


def change_result_data(results, arguments):
    results[0].data.add_(0)


CHANGES = (
    change_argument,
    change_result,
    change_through_view,
    change_argument_data,
    change_result_data,
)


@pytest.mark.parametrize("name", ["relu", "sin", "exp", "tanh", "sqrt", "sigmoid", "neg", "square", "t"])
def test_one_op(name):
    """What eager saves of an op is its argument or its result; a gradient that is computed from the other went on."""
    each_raises(getattr(torch, name), CHANGES)


def test_what_raises():
    """A table of checks that eager would not make either passes with nothing checked."""
    assert raises(torch.relu, change_through_view)
    assert raises(torch.sin, change_argument)
    assert not raises(torch.relu, change_argument)
    assert not raises(torch.exp, change_result_data)


def test_product():
    """Each factor is saved for the other's gradient."""
    assert raises(lambda x, y: x * y, change_argument, arguments=2)
    assert not raises(lambda x, y: x + y, change_argument, arguments=2)


def test_only_the_results_that_are_used_count():
    """Eager checks nothing on the way of a result that no gradient comes from."""

    def fn(x):
        return x.relu(), x.sigmoid() * 2

    assert raises(fn, change_result)
    assert not raises(fn, change_result, used=(1,))
    assert raises(fn, change_result, used=(0, 1))


def test_a_result_that_another_needs():
    """The value that eager saved for a second result is the first one."""

    def fn(x):
        first = x.exp()
        return first.view(-1), first.sin()

    assert raises(fn, change_result, used=(1,))


def test_an_argument_that_the_call_writes():
    """Its counter moves in the call; only what the user adds to that counts."""

    def fn(x, y):
        x.mul_(2)
        return x.sin() + y

    assert raises(fn, change_argument, arguments=2)
    assert not raises(fn, lambda results, arguments: None, arguments=2)
    assert not raises(fn, change_last_argument, arguments=2)


def test_views_that_share_a_counter():
    """A write to one view moves the other's counter: what the call wrote itself was taken for the user's change."""

    def fn(x, y):
        with torch.no_grad():
            x.fill_(2)
        return y.sin()

    def halves(leaf):
        whole = leaf * 1
        return [whole[:1], whole[1:]]

    assert not raises(fn, lambda results, arguments: None, prepare=halves)
    assert raises(fn, change_last_argument, prepare=halves)


def test_written_within_the_call_after_it_was_saved():
    """The backward of such a function raises always; the compiled program has the old value and computed on."""

    def fn(x):
        y = x.exp()
        return y, y.mul_(2)[0] + 1

    torch._dynamo.reset()
    compiled = torch.compile(fn, backend="dovetail")
    with pytest.warns(UserWarning, match="written later"):
        result = compiled(torch.ones(2, 3, requires_grad=True))
    with pytest.raises(RuntimeError, match=MODIFIED):
        result[0].sum().backward()


def test_hooks_on_saved_values():
    """Of what the user's hooks have packed eager checks no version."""
    torch._dynamo.reset()
    compiled = torch.compile(torch.relu, backend="dovetail", fullgraph=True)
    leaf = torch.randn(5, requires_grad=True)
    for hooked in (False, True):
        with torch.autograd.graph.saved_tensors_hooks(torch.clone, torch.clone) if hooked else torch.enable_grad():
            result = compiled(leaf)
        with torch.no_grad():
            result.add_(1)
        if hooked:
            result.sum().backward()
        else:
            with pytest.raises(RuntimeError, match=MODIFIED):
                result.sum().backward()


def test_nothing_is_kept_alive():
    """A result that its own backward watches would live until the garbage collector finds the cycle."""
    torch._dynamo.reset()
    compiled = torch.compile(torch.relu, backend="dovetail", fullgraph=True)
    gc.disable()
    try:
        result = compiled(torch.randn(5, requires_grad=True))
        alive = weakref.ref(result)
        del result
        assert alive() is None
    finally:
        gc.enable()


def test_result_that_eager_did_not_save():
    """Catches a raise for a written result: eager keeps what the normalization was given, the program may save that."""

    def normalized(x):
        return torch.nn.functional.layer_norm(x - 0.5, x.shape[-1:])

    assert not raises(normalized, lambda results, _: results[0][0].add_(1))


def test_written_argument_that_eager_saved_through_data():
    """Catches a raise where eager saved another name of the memory, which has a version counter of its own."""

    def fn(x, y):
        return y * x.data

    leaves = [torch.ones(3), torch.ones(3).requires_grad_()]
    result = torch.compile(fn, backend="dovetail", fullgraph=True)(*leaves)
    leaves[0].add_(1)
    result.sum().backward()
    assert leaves[1].grad.tolist() == [1.0] * 3  # of the call; eager's is that of the changed value


def test_what_an_update_of_a_slice_saved():
    """Catches a backward that computes on: eager's node for the slice saved its result, which the caller wrote."""

    def fn(x):
        x.diagonal().relu_()
        return x.view(1, -1)

    assert raises(fn, lambda results, _: results[0].add_(1))


def test_empty_view_of_an_argument_that_is_not_saved():
    """Catches a raise: what is saved is the result's value, which is the argument's too, and eager saved the result."""

    def fn(x):
        first = x.clone()
        second = first.clone()
        first.mul_(second)
        return second, first.relu_(), x.narrow(0, 1, 0)

    assert not raises(fn, lambda results, given: given[0].detach().add_(1))


def test_neighbours_of_what_the_call_writes():
    """Catches a gradient of changed values: a counter's move by the caller was taken for one by the call's own write.

    The call writes another argument in the same storage, with a version counter of its own, as flat parameters have.
    """

    def fn(x, y):
        with torch.no_grad():
            y.mul_(2)
        return x.exp().sin(), x * x

    def halves(leaf):
        whole = leaf * 1
        return [whole[:1], whole.data[1:]]

    def change_twice(results, arguments):
        arguments[0].add_(1).add_(1)

    def change_nothing(results, arguments):
        pass

    changes = (change_nothing, change_argument, change_twice, change_last_argument)
    assert each_raises(fn, changes, used=(0, 1), prepare=halves) == [False, True, True, False]


def test_second_derivative_beside_a_written_neighbour():
    """Catches a refusal: the call's own write moved the counter of the argument that the second derivative needs."""

    def fn(x, y):
        with torch.no_grad():
            y.mul_(2)
        return x.tanh()

    torch._dynamo.reset()
    found = []
    for function in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        leaf = torch.arange(6.0).requires_grad_()
        whole = leaf * 1
        (first,) = torch.autograd.grad(function(whole[:3], whole.detach()[3:]).sum(), leaf, create_graph=True)
        found.append(torch.autograd.grad(first.sum(), leaf))
    torch.testing.assert_close(*found)
