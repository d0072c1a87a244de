"""Forward-mode automatic differentiation around a compiled call."""

import pytest
import torch
from torch.autograd import forward_ad

import dovetail
from dovetail.errors import EagerWarning, UnsupportedError

pytestmark = pytest.mark.usefixtures("op_by_op")


def fn(x):
    return (x.sin() * x.sum()).tanh()


def tangent(call, x, direction):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(call(forward_ad.make_dual(x, direction))).tangent


@pytest.mark.parametrize("requires_grad", [False, True], ids=["plain", "requires-grad"])
def test_derivative_of_an_argument(requires_grad):
    """Catches a derivative that is dropped in silence, as constants have none, or an error of autograd's."""
    x, direction = torch.randn(4, requires_grad=requires_grad), torch.randn(4)
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    with pytest.warns(EagerWarning, match="an argument has a derivative of forward-mode"):
        actual = tangent(compiled, x, direction)
    assert torch.equal(actual, tangent(fn, x, direction))


def test_derivative_of_a_tensor_that_the_graph_holds():
    """Catches the same of a tensor that the function closes over."""
    compiled = torch.compile(lambda x: x * held["tensor"], backend="dovetail")
    held = {}
    with forward_ad.dual_level():
        held["tensor"] = forward_ad.make_dual(torch.ones(3), torch.arange(3.0))
        with pytest.warns(EagerWarning, match="forward-mode"):
            actual = forward_ad.unpack_dual(compiled(torch.full((3,), 2.0))).tangent
    assert actual.tolist() == [0, 2, 4]


def test_jacobian():
    """Catches a Jacobian of zeros, where PyTorch asks for it in forward mode."""
    x, compiled = torch.randn(3), torch.compile(fn, backend="dovetail", fullgraph=True)
    expected, actual = (
        torch.autograd.functional.jacobian(each, x, vectorize=True, strategy="forward-mode") for each in (fn, compiled)
    )
    assert expected.any()
    torch.testing.assert_close(actual, expected)


def test_call_without_derivatives_stays_compiled():
    """Catches a level that is open, but of no interest to the call, and makes it run eagerly."""
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    before = dovetail.stats().eager
    with forward_ad.dual_level():
        compiled(torch.ones(3))
    assert dovetail.stats().eager == before


def test_strict():
    """Catches an eager run that `strict` forbids."""
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True, options={"strict": True})
    with pytest.raises(UnsupportedError, match="an argument has a derivative of forward-mode"):
        tangent(compiled, torch.ones(3), torch.ones(3))
