"""Facts of ops inside of nested graphs: checkpointed regions, branches, loops, custom functions, and these in another.

What is refused runs eagerly, with a warning.
"""

from collections.abc import Callable

import pytest
import torch
from differential import assert_same
from torch.utils.checkpoint import checkpoint

import dovetail
from dovetail.errors import EagerWarning

pytestmark = [pytest.mark.filterwarnings("ignore::dovetail.errors.EagerWarning"), pytest.mark.usefixtures("op_by_op")]


def checkpointed(fn: Callable) -> Callable:
    return lambda x: checkpoint(fn, x, use_reentrant=False)


def branch(fn: Callable) -> Callable:
    return lambda x: torch.cond(x.sum() > -1e9, fn, lambda x: fn(x) * 1.0, (x,))


def region(fn: Callable) -> Callable:
    return torch.compiler.nested_compile_region(lambda x: fn(x))


def loop(fn: Callable) -> Callable:
    return lambda x: torch.while_loop(lambda n, x: n < 2, lambda n, x: (n + 1, fn(x)), (torch.tensor(0), x))[1]


NESTINGS = {
    "checkpoint": checkpointed,
    "cond": branch,
    "nested_compile_region": region,
    "checkpoint in checkpoint": lambda fn: checkpointed(checkpointed(fn)),
    "checkpoint in cond": lambda fn: branch(checkpointed(fn)),
    "cond in checkpoint": lambda fn: checkpointed(branch(fn)),
    "cond in cond": lambda fn: branch(branch(fn)),
    "checkpoint in nested_compile_region": lambda fn: region(checkpointed(fn)),
    "nested_compile_region in checkpoint": lambda fn: checkpointed(region(fn)),
}
LOOPS = {"while_loop": loop, "while_loop in checkpoint": lambda fn: checkpointed(loop(fn))}


def from_the_start(x):
    return x.as_strided((2,), (1,), 0) * 1.0


def triple_every_other(x):
    doubled = x * 2
    doubled.unfold(0, 1, 2).mul_(3)
    return doubled


class InForward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return triple_every_other(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 5


class InBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, gradient):
        return triple_every_other(gradient)


class Tripled(torch.autograd.Function):
    """Its gradient is not what autograd would make of it."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 3

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * x


class Flat(torch.autograd.Function):
    """Returns a view; its gradient is ten times that of a view."""

    @staticmethod
    def forward(ctx, x):
        return x.view(-1)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 10


def numbers() -> torch.Tensor:
    return torch.arange(1.0, 6.0)


@pytest.mark.parametrize("nesting", ["checkpoint", "cond", "checkpoint in cond", "cond in checkpoint"])
def test_place_in_the_storage(nesting):
    """Catches [2, 3] for eager's [0, 1]: a program for one storage offset that runs for another."""
    torch._dynamo.reset()

    function = NESTINGS[nesting](from_the_start)
    if "cond" in nesting:  # both branches must have the same sizes
        inner = checkpointed(from_the_start) if nesting == "checkpoint in cond" else from_the_start
        function = lambda x: torch.cond(x.sum() > -1e9, inner, lambda x: x[:2] * 1.0, (x,))  # noqa: E731
        function = checkpointed(function) if nesting == "cond in checkpoint" else function
    compiled = torch.compile(function, backend="dovetail", fullgraph=True)
    base = torch.arange(8.0)
    for start in (0, 2):
        assert compiled(base[start : start + 4]).tolist() == function(base[start : start + 4]).tolist()


@pytest.mark.parametrize("nesting", NESTINGS)
def test_writes_through_windows(nesting):
    """Catches [6, 0, 18, 0, 30] for eager's [6, 4, 18, 8, 30]: what lies between windows is lost when traced."""
    assert_same(NESTINGS[nesting](triple_every_other), numbers().requires_grad_(), eager=True, graphs=0)


@pytest.mark.parametrize("nesting", LOOPS)
def test_writes_through_windows_in_loops(nesting):
    """The same inside of a loop, which has no gradient."""
    assert_same(LOOPS[nesting](triple_every_other), numbers(), eager=True, graphs=0)


@pytest.mark.parametrize("function", [InForward, InBackward])
@pytest.mark.parametrize("nesting", ["checkpoint", "nested_compile_region", "checkpoint in cond"])
def test_writes_through_windows_in_custom_functions(nesting, function):
    """The same in the forward of a custom function, whose ops are no nodes, and in its backward, which runs later."""
    assert_same(NESTINGS[nesting](lambda x: function.apply(x)), numbers().requires_grad_(), eager=True, graphs=0)
    assert_same(lambda x: function.apply(x), numbers().requires_grad_(), eager=True, graphs=0)


@pytest.mark.parametrize("nesting", ["checkpoint", "checkpoint in checkpoint"])
def test_views_by_custom_functions(nesting):
    """Catches gradient [3, 3] for eager's [30, 30]: a view that a custom function made, replayed as autograd's own."""

    def both(x):
        tripled = x * 3
        return tripled, Flat.apply(tripled)

    assert_same(NESTINGS[nesting](both), torch.ones(2).requires_grad_(), eager=True, graphs=0)


@pytest.mark.parametrize("nesting", ["checkpoint", "checkpoint in checkpoint", "nested_compile_region in checkpoint"])
@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: Tripled.apply(x) ** 2, "a custom autograd.Function has a gradient of its own"),
        (lambda x: x.detach() * x * x, "autograd does not follow it"),
        (lambda x: torch.no_grad()(lambda x: x * 1.0)(x) * x * x, "autograd does not follow it"),
    ],
    ids=["custom function", "detach", "no_grad"],
)
def test_second_derivatives(nesting, function, reason):
    """Catches [12, 24] for eager's [8, 20], and [4, 8] for [2, 4]: what eager counts as constant, differentiated."""
    torch._dynamo.reset()
    compiled = torch.compile(NESTINGS[nesting](function), backend="dovetail", fullgraph=True)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (gradient,) = torch.autograd.grad(compiled(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=f"can't be differentiated again: .*{reason}"):
        gradient.sum().backward()


def test_windows_that_are_only_read():
    """Catches refusals of all that has windows: these are not written."""
    dovetail.stats(reset=True)
    for nesting in ("checkpoint", "cond"):
        assert_same(NESTINGS[nesting](lambda x: x.unfold(0, 2, 1).sum(1).mul_(2)), numbers().requires_grad_())


def test_refusal_names_the_line():
    """Catches a reason that names no place, or the place of the branch's call."""
    torch._dynamo.reset()
    compiled = torch.compile(branch(triple_every_other), backend="dovetail", fullgraph=True)
    with pytest.warns(EagerWarning, match=r"test_unseen_graphs.py:\d+: a write through `unfold`, `expand`"):
        compiled(numbers())
