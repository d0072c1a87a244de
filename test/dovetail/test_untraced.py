"""Dynamo traces nothing in what Dovetail gives it to call, though it calls that as it is."""

import functools
import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch._dynamo import eval_frame
from torch._dynamo.utils import counters
from torch.autograd import forward_ad

from dovetail.errors import EagerWarning
from dovetail.untraced import untraced

pytestmark = pytest.mark.usefixtures("op_by_op")


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def functions_called(backend: str) -> list[str]:
    """The functions in Python that a call of a compiled function calls."""
    compiled = torch.compile(lambda x: x * 2, backend=backend)
    compiled(torch.ones(2))
    called: list[str] = []
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
    try:
        compiled(torch.ones(2))
    finally:
        sys.setprofile(None)
    return called


def test_nothing_stands_around_a_program():
    """Would catch a function of Dynamo's around what Dovetail returns, and none around what another backend does."""
    torch._dynamo.reset()
    switch = torch._dynamo.disable(double).__code__.co_name
    assert switch not in functions_called("dovetail")
    assert switch in functions_called("aot_eager")


@pytest.mark.parametrize("fullgraph", [False, True])
def test_nothing_inside_is_traced(fullgraph: bool):
    """Would catch functions that a program calls, and itself, compiled by Dynamo for themselves."""

    @untraced
    def program(x):
        return (double(x),)

    torch._dynamo.reset()
    counters.clear()
    compiled = torch.compile(lambda x: x + x, backend=lambda graph, inputs: program, fullgraph=fullgraph)
    for _ in range(2):
        assert torch.equal(compiled(torch.ones(3)), torch.full((3,), 2.0))
    assert counters["stats"]["unique_graphs"] == 1


@pytest.mark.parametrize("fullgraph", [False, True])
def test_what_wraps_it_is_put_apart(fullgraph: bool):
    """Would catch a backend's function that passes for untraced by what `functools.wraps` has copied."""

    @untraced
    def program(x):
        return (double(x),)

    @functools.wraps(program)
    def around(x):
        return program(double(x))

    torch._dynamo.reset()
    counters.clear()
    compiled = torch.compile(lambda x: x + x, backend=lambda graph, inputs: around, fullgraph=fullgraph)
    for _ in range(2):
        assert torch.equal(compiled(torch.ones(3)), torch.full((3,), 4.0))
    assert counters["stats"]["unique_graphs"] == 1


def test_backwards_inside_are_not_traced():
    """Would catch what Dovetail runs in a backward, compiled by Dynamo where a compiled function starts that."""

    def step(x, weight):
        torch.autograd.grad((x * weight).exp().sum(), weight, create_graph=True)[0].sum().backward()
        return weight.grad

    expected = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    step(*expected)
    frames = []
    for backend in ("eager", "dovetail"):
        torch._dynamo.reset()
        counters.clear()
        given = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
        torch.compile(step, backend=backend)(*given)
        frames.append(dict(counters["frames"]))
        torch.testing.assert_close([each.grad for each in given], [each.grad for each in expected])
    assert frames[0] == frames[1]


def test_behind_it_dynamo_goes_on():
    """Would catch what switches Dynamo off in a call, and leaves it off for what the same function calls next."""
    torch._dynamo.reset()
    counters.clear()

    def broken(x):
        y = x * 2
        torch._dynamo.graph_break()
        return double(y)

    compiled = torch.compile(broken, backend="dovetail")
    for _ in range(2):
        assert torch.equal(compiled(torch.ones(3)), torch.full((3,), 4.0))
    assert counters["stats"]["unique_graphs"] == 2
    assert eval_frame.set_eval_frame(None) is None


def test_a_failing_call_leaves_dynamo_as_it_was():
    """Would catch an error out of a program behind which nothing is compiled any more."""

    @untraced
    def fails(x):
        raise ArithmeticError

    torch._dynamo.reset()
    compiled = torch.compile(lambda x: x * 2, backend=lambda graph, inputs: fails)
    with pytest.raises(ArithmeticError):
        compiled(torch.ones(2))
    counters.clear()
    torch.compile(lambda x: x * 3, backend="dovetail")(torch.ones(2))
    assert counters["frames"]["ok"] == 1


def test_warnings_name_the_users_line():
    """Would catch a warning about an eager call that names a file of Dovetail's or PyTorch's."""
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: x * 2, backend="dovetail")
    compiled(torch.ones(2))
    with forward_ad.dual_level(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled(forward_ad.make_dual(torch.ones(2), torch.ones(2)))
    assert [Path(each.filename).name for each in caught if each.category is EagerWarning] == [Path(__file__).name]
