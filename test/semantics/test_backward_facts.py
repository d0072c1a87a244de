"""What eager's backward reaches, frees and needs is what the compiled one does, result by result."""

import warnings

import pytest
import torch
from differential import assert_same

from dovetail.errors import EagerWarning

pytestmark = pytest.mark.usefixtures("op_by_op")

SECOND, MODIFIED = "a second time", "modified by an inplace operation"


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values).requires_grad_()


def outcomes(fn, *steps) -> list:
    """What becomes of `steps`, functions of an eager and then of a compiled `fn`: what each returns or raises."""
    torch._dynamo.reset()
    found = []
    for each in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        seen: list = []
        for step in steps:
            try:
                seen.append(step(each))
            except RuntimeError as error:
                seen.append(next(each for each in (SECOND, MODIFIED) if each in str(error)))
        found.append(seen)
    assert found[0] == found[1]
    return found[0]


def test_no_gradient_by_way_of_a_view_made_under_no_grad():
    """Catches zeros in place of no gradient: the only result that depends on the weight has no history."""

    def fn(x, weight):
        made = torch.where(x > 0.1, x, weight)
        with torch.no_grad():
            part = made.split(2)[0]
        return x * 2, part

    assert_same(fn, leaf(0.0, 1.0, 2.0, 3.0), leaf(1.0, 2.0, 3.0, 4.0))


class Counting(torch.nn.Module):
    """A buffer that is written in autograd's sight keeps its history from call to call."""

    def __init__(self, forward):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.register_buffer("total", torch.zeros(3))
        self.call = forward

    def forward(self, x):
        return self.call(self, x)


HISTORIES = {
    "of another argument": (lambda self, x: (self.total.sub_(self.weight), x.add_(1)), lambda x: x * 1),
    "of fewer arguments": (lambda self, x: (self.total.add_(x), self.weight * x), lambda x: x),
    "that frees nothing": (lambda self, x: (self.total.add_(x), x.sin()), lambda x: x),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_history_that_outlives_the_call(name):
    """Catches "Trying to backward a second time", or another order of gradients, where eager's histories are apart."""

    forward, prepare = HISTORIES[name]

    def run(compile_it: bool) -> list:
        torch._dynamo.reset()
        module = Counting(forward)
        call = torch.compile(module, backend="dovetail") if compile_it else module
        seen = []
        for step in range(2):
            x = torch.full((3,), 1.0 + step)
            x = prepare(x.requires_grad_()) if step == 0 else x
            results = [each for each in call(x) if each is not x]
            sum(result.sum() for result in results if result.requires_grad).backward()
            seen.append((module.total.tolist(), module.weight.grad))
        return seen

    with pytest.warns(EagerWarning, match="keeps a history apart from that of other results"):
        compiled = run(True)
    torch.testing.assert_close(compiled, run(False))


def test_second_backward_frees_what_an_update_of_a_part_saved():
    """Catches a gradient that is added twice: eager's node of an in-place op on a slice runs only once."""

    def fn(x, part):
        part[1:].sub_(x)

    x, parts = leaf(1.0, 2.0), []

    def write(function):
        parts.append(torch.ones(3))
        function(x, parts[-1])

    def backward(function):
        parts[-1].sum().backward()

    assert outcomes(fn, write, backward, backward) == [None, None, SECOND]


def test_arguments_that_are_independent_later():
    """Catches "modified by an inplace operation" that holds for the first call only, whose arguments share memory."""

    def fn(x, y):
        return x.sinh(), y

    def call(function, y):
        x = leaf(1.0, 2.0)
        first, second = function(x, x.view(-1) if y is None else y)
        with torch.no_grad():
            second.detach().zero_()
        first.sum().backward()
        return x.grad.tolist()

    seen = outcomes(fn, lambda function: call(function, None), lambda function: call(function, torch.ones(2)))
    assert seen[0] == MODIFIED
    assert seen[1] == pytest.approx(torch.tensor([1.0, 2.0]).cosh().tolist())


def test_update_of_a_view_saves_what_eager_saves():
    """Catches "modified by an inplace operation" of the factor, of which a view without gradient needs none."""

    def fn(x, view):
        view.mul_(x)

    def call(function):
        x = leaf(1.0, 2.0) * 1
        view = torch.tensor([3.0, 4.0]).view(2)
        function(x, view)
        with torch.no_grad():
            x.add_(1)
        view.sum().backward()

    assert outcomes(fn, call) == [None]


def test_neighbours_share_a_version_counter():
    """Catches gradients where eager raises: a write of a part moves the counter of another, which was saved."""

    def fn(x, y):
        made = x.sin()
        y.add_(1)
        return made

    def call(function, apart: bool):
        base = leaf(1.0, 2.0, 3.0, 4.0) * 1
        x, y = (base[:2], torch.ones(2)) if apart else (base[:2], base[2:])
        function(x, y).sum().backward()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EagerWarning)
        steps = [lambda function, apart=apart: call(function, apart) for apart in (True, False, True)]
        assert outcomes(fn, *steps) == [None, MODIFIED, None]


def test_write_under_enable_grad_in_a_call_under_no_grad():
    """Catches an argument without the history that eager gives it."""

    def fn(x, target):
        with torch.enable_grad():
            target.copy_(x * 2)

    def call(function):
        x, target = leaf(1.0, 2.0), torch.zeros(2)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore", EagerWarning)
            function(x, target)
        target.sum().backward()
        return x.grad.tolist()

    assert outcomes(fn, call) == [[2.0, 2.0]]


def test_retained_gradient_of_what_is_written_through_a_view():
    """Catches the gradient before the write where eager keeps that of what the base holds now."""

    def fn(view):
        view.add_(0.5)
        return view.sin()

    def call(function):
        base = leaf(1.0, 2.0) * 1
        base.retain_grad()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EagerWarning)
            function(base.view(2)).sum().backward()
        return base.grad.tolist()

    assert outcomes(fn, call) == [torch.tensor([1.5, 2.5]).cos().tolist()]


def test_leaf_that_is_a_view():
    """Catches a gradient that is lost: `requires_grad_` on a view makes a leaf, which is no view without history."""

    def fn(x, y):
        x.add_(y)
        return x * 2

    def call(function):
        base, y = torch.ones(4), torch.tensor([1.0, 2.0]).view(2).requires_grad_()
        function(base[:2], y).sum().backward()
        return y.grad.tolist()

    assert outcomes(fn, call) == [[2.0, 2.0]]


def test_what_is_written_requires_grad_only_by_a_view_without_history():
    """Catches a written argument that does not require grad, though eager takes a view made under `no_grad` for one."""

    def fn(x, y):
        with torch.no_grad():
            part = x.split(2)[0]
        y[:2] = part

    with pytest.warns(EagerWarning, match="a result requires grad, but no argument gets a gradient"):
        assert_same(fn, leaf(1.0, 2.0, 3.0), torch.zeros(3), eager=True, graphs=0, train=False)
