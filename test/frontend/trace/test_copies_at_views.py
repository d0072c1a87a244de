"""The gradients of views that leave the call join those of other uses in eager's order, which an opaque op sees."""

import pytest
import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import dovetail.tools.fuzz.computations.opaque  # noqa: F401 (registers the op)

pytestmark = pytest.mark.usefixtures("op_by_op")

scaled = torch.ops.dovetail_fuzz.scale_by_layout  # its gradient tells the strides of the gradient that it is given


def use(x):
    return functional.threshold(x, 0.1, 0.5)


def view_then_use(x):
    y = scaled(x)
    view = y.mT
    return view, use(y)


def use_then_view(x):
    y = scaled(x)
    used = use(y)
    return used, y.mT


def views_around_a_use(x):
    y = scaled(x)
    first = y.mT[1:]
    used = use(y)
    return first, used, y.mT


def inner_view(x):
    y = scaled(x)
    inner = use(y.mT)
    other = use(y)
    return y.mT, inner, other


def inner_view_later(x):
    y = scaled(x)
    view = y.mT
    return view, use(y), y.mT.exp()


def itself_beside(x):
    y = scaled(x)
    view = y.mT
    return view, use(y), y


def detached_view(x):
    y = scaled(x)
    used = use(y)
    return y.detach().mT, used, y.mT


def under_no_grad(x):
    y = scaled(x)
    view = y.mT
    with torch.no_grad():
        inner = y.mT
    return view, use(y), inner.exp()


def made_in_parts(x):
    first, second = scaled(x).chunk(2, 1)
    return first.mT, use(second)


PROGRAMS = [
    view_then_use,
    use_then_view,
    views_around_a_use,
    inner_view,
    inner_view_later,
    itself_beside,
    detached_view,
    under_no_grad,
    made_in_parts,
]
FORMS = {"plain": lambda fn: fn, "checkpointed": lambda fn: lambda x: checkpoint(fn, x, use_reentrant=False)}
TANGENTS = {"as the result lies": torch.ones_like, "row by row": lambda each: torch.ones(each.shape)}


def _gradients(fn, tangent):
    """Of eager and compiled code, the results and the gradient."""
    for function in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        x = torch.linspace(-1, 1, 35).view(5, 7).requires_grad_()
        results = [result for result in function(x) if result.requires_grad]
        yield results, torch.autograd.grad(results, x, [tangent(result.detach()) for result in results])
    torch._dynamo.reset()


WAYS = [("plain", "as the result lies"), ("plain", "row by row"), ("checkpointed", "as the result lies")]


@pytest.mark.parametrize(("form", "tangent"), WAYS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_order(program, form, tangent):
    """Would catch a copy at the end of the call: its gradient comes first, whatever was done after the view."""
    expected, actual = _gradients(FORMS[form](program), TANGENTS[tangent])
    torch.testing.assert_close(actual, expected)


def test_what_is_written_after_the_view():
    """Would catch a copy that is handed out though it holds what the memory was before."""

    def written_after(x):
        y = scaled(x)
        view = y.mT
        y.mul_(2)
        return view, use(y)

    expected, actual = _gradients(written_after, torch.ones_like)
    torch.testing.assert_close(actual, expected)
