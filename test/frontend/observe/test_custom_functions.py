"""Custom `autograd.Function`s inside of a compiled function: their backward is the one that runs."""

import pytest
import torch
from differential import assert_same
from torch.autograd.function import once_differentiable

from dovetail.errors import EagerWarning

pytestmark = pytest.mark.usefixtures("op_by_op")


def leaf(*shape: int) -> torch.Tensor:
    return torch.rand(shape).requires_grad_()


class Scaled(torch.autograd.Function):
    """A number and a flag on ctx, a saved result, a gradient that differs from the true one, and None gradients."""

    @staticmethod
    def forward(ctx, x, scale, flag):
        ctx.scale, ctx.flag = scale, flag
        result = x.exp() * scale
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, gradient):
        (result,) = ctx.saved_tensors
        return (gradient * result * ctx.scale if ctx.flag else gradient * 7), None, None


class TwoResults(torch.autograd.Function):
    """Saves an input and an intermediate, as one list and as an attribute; two results with gradients of their own."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.size = x.size()
        return x * y, x + 2 * y

    @staticmethod
    def backward(ctx, product, total):
        x, y = ctx.saved_tensors
        return (product * y * 2 + total).expand(ctx.size), product * x * 3 + total


class OnlyFirst(torch.autograd.Function):
    """No gradient for the second argument, though it requires one."""

    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, gradient):
        assert ctx.needs_input_grad[1]
        return gradient * 5, None


class WithIndices(torch.autograd.Function):
    """A result that is not differentiable though it is of floating point, and one of integers."""

    @staticmethod
    def forward(ctx, x):
        top, index = x.sort()
        rounded = top.round()
        ctx.mark_non_differentiable(rounded, index)
        ctx.save_for_backward(index)
        return top, rounded, index

    @staticmethod
    def backward(ctx, top, rounded, index):
        (order,) = ctx.saved_tensors
        return torch.zeros_like(top).scatter(-1, order, top * 2)


class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sin()

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        return gradient * 11


class SetupContext(torch.autograd.Function):
    """The newer form: forward without ctx."""

    @staticmethod
    def forward(x, power):
        return x**power

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.power = inputs
        ctx.save_for_backward(x, output)

    @staticmethod
    def backward(ctx, gradient):
        x, output = ctx.saved_tensors
        return gradient * ctx.power * output / x * 2, None


class Materialized(torch.autograd.Function):
    """Asks not to get zeros for a result that nobody uses."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, first, second):
        return first * 20 if second is None else first * 20 + second * 30


class StraightThrough(torch.autograd.Function):
    """A view in, a view out, and a gradient that ignores what came between."""

    @staticmethod
    def forward(ctx, x):
        return x.t().round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient.t()


@pytest.mark.parametrize("flag", [True, False])
def test_attributes_and_saved_results(flag):
    """Catches the true gradient in place of the user's, and an attribute of ctx that is lost."""
    assert_same(lambda x: Scaled.apply(x.sin(), 3.0, flag) * 2, leaf(4))


def test_several_results():
    """Catches gradients of two results that are exchanged, or summed before the backward sees them."""
    assert_same(lambda x, y: TwoResults.apply(x, y.cos()), leaf(3), leaf(3))


def test_one_result_unused():
    """Catches a missing gradient that reaches the backward as None."""
    assert_same(lambda x, y: TwoResults.apply(x, y)[1] * 2, leaf(3), leaf(3))


def test_gradient_none():
    """Catches zeros where eager's argument has no gradient at all."""
    assert_same(lambda x, y: OnlyFirst.apply(x, y), leaf(3), leaf(3))
    assert_same(lambda x, y: OnlyFirst.apply(x * 2, y.exp()) + y, leaf(3), leaf(3))


def test_non_differentiable_results():
    """Catches results that say they require a gradient."""
    assert_same(lambda x: WithIndices.apply(x * 3), leaf(5))


def test_once_differentiable():
    """Catches a backward that is traced past its mark."""
    assert_same(lambda x: Once.apply(x).exp(), leaf(3))


def test_setup_context():
    """Catches the form of which forward does not see ctx."""
    assert_same(lambda x: SetupContext.apply(x + 1, 3), leaf(4))


def test_materialized_gradients():
    """Catches zeros in place of the None that the function asked for."""
    assert_same(lambda x: Materialized.apply(x)[0], leaf(4))
    assert_same(lambda x: Materialized.apply(x), leaf(4))


def test_straight_through():
    """Catches the zero gradient of what is inside."""
    assert_same(lambda x: StraightThrough.apply(x * 4), leaf(2, 3))


def test_nested_in_one_another():
    """Catches a backward that is taken for a forward inside of another one's."""

    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return Once.apply(x) * 2

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return gradient * Once.apply(x)

    assert_same(lambda x: Outer.apply(x) + Once.apply(x), leaf(4))


def test_without_gradients():
    """Catches a function that is only right where something requires a gradient."""
    assert_same(lambda x: Scaled.apply(x, 2.0, True), torch.rand(3))


class Flat(torch.autograd.Function):
    """A view, whose gradient is three times that of one."""

    @staticmethod
    def forward(ctx, x):
        ctx.size = x.size()
        return x.view(-1)

    @staticmethod
    def backward(ctx, gradient):
        return 3 * gradient.view(ctx.size)


def test_base_of_a_view():
    """Catches a view without `_base`, and one that may be written in place, which eager forbids (O8)."""

    def fn(x, y):
        return Flat.apply(x.sin()), Flat.apply(y.exp())

    assert_same(fn, leaf(2, 3), torch.ones(2, 2))
    for function in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        followed, plain = function(leaf(2, 3), torch.ones(2, 2))
        assert (followed._base.size(), plain._base.size()) == ((2, 3), (2, 2))
        with pytest.raises(RuntimeError, match="created inside a custom Function"):
            followed.add_(1)
        plain.add_(1)
        torch.testing.assert_close(plain._base.view(-1), plain)


class Saves(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        result = x * y
        ctx.save_for_backward(y, result)
        return result

    @staticmethod
    def backward(ctx, gradient):
        y, result = ctx.saved_tensors
        return gradient * y * result, None


class Stashes(torch.autograd.Function):
    """Keeps an argument and a result that autograd does not check."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.y, ctx.result = y, x * y
        return ctx.result

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.y * ctx.result, None


@pytest.mark.parametrize("function", [Saves, Stashes])
@pytest.mark.parametrize("written", ["argument", "result"])
def test_what_it_keeps_is_written_after_the_call(function, written):
    """Catches a gradient of what was kept, where eager raises, or takes what is there if it does not check that."""
    compiled = torch.compile(lambda x, y: function.apply(x, y), backend="dovetail", fullgraph=True)
    x, y = leaf(3), torch.rand(3)
    result = compiled(x, y)
    with torch.no_grad():
        (y if written == "argument" else result).add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_what_it_keeps_is_written_unseen():
    """Catches a copy of what eager keeps itself: what `.data` writes shows in the gradient."""

    def write(outputs, arguments):
        arguments[1].data.add_(1)

    assert_same(lambda x, y: Saves.apply(x, y), leaf(3), torch.rand(3), then=write)


def test_what_it_keeps_is_written_in_the_call():
    """Catches a gradient where eager raises, and of what it does not check, that of what was there before the write."""

    def fn(function, x, y):
        result = function.apply(x, y)
        y.add_(1)
        return result

    assert_same(lambda x, y: fn(Stashes, x, y), leaf(3), torch.rand(3))
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    with pytest.warns(EagerWarning, match="autograd saved a value that is written later"):
        result = compiled(Saves, leaf(3), torch.rand(3))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


class AddOne(torch.autograd.Function):
    """Writes its input in place."""

    @staticmethod
    def forward(ctx, x):
        x.add_(1)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        return 3 * gradient


@pytest.mark.parametrize("is_returned", [True, False])
def test_version_of_a_written_input(is_returned: bool):
    """Catches a version counter that a look into the function moved, besides its run."""

    def fn(x):
        result = AddOne.apply(x)
        return result if is_returned else ()

    moved = []
    for function in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        x = leaf(2, 2) * 1
        before = x._version
        function(x)
        moved.append(x._version - before)
    assert moved == [2, 2]
