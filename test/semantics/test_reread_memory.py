"""What eager reads again to recompute a checkpointed region, and the gradient where that has changed."""

import functools
import inspect
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

import dovetail

pytestmark = [
    pytest.mark.filterwarnings("ignore::dovetail.errors.EagerWarning"),
    pytest.mark.usefixtures("op_by_op"),
]

inside = functools.partial(checkpoint, use_reentrant=False)
reentrant = functools.partial(checkpoint, use_reentrant=True)


def saving_sums(ctx, op, *args, **kwargs) -> CheckpointPolicy:
    return CheckpointPolicy.MUST_SAVE if op is torch.ops.aten.add.Tensor else CheckpointPolicy.PREFER_RECOMPUTE


def numbers() -> torch.Tensor:
    return torch.linspace(0.1, 0.9, 5, dtype=torch.float64)


class Changed(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("held", numbers())

    def forward(self, x, other):
        y = inside(lambda x: (x + self.held).tanh(), x)
        self.held.add_(1)
        return y * other


def argument(x, other):
    y = inside(lambda x: (x + other).tanh(), x)
    other.add_(1)
    return y


def argument_that_is_passed(x, other):
    y = inside(lambda x, other: (x + other).tanh(), x, other)
    other.add_(1)
    return y


def value(x, other):
    doubled = x * 2
    y = inside(lambda x: (x + doubled).tanh(), x)
    doubled.add_(1)
    return y + doubled


def value_that_is_passed(x, other):
    total = x * other
    for _ in range(2):
        total += inside(lambda total: (total * other).sin(), total)
    return total


def through_data(x, other):
    y = inside(lambda x: (x + other).tanh(), x)
    other.data.mul_(2)
    return y


def through_a_view(x, other):
    y = inside(lambda x: (x[:3] + other[:3]).tanh(), x)
    other[2:].add_(1)
    return y


def region_in_a_region(x, other):
    y = inside(lambda x: inside(lambda x: (x + other).tanh(), x).sin(), x)
    other.add_(1)
    return y


def between_in_a_region(x, other):
    def outer(x):
        doubled = x * 2
        y = inside(lambda x: (x + doubled).tanh(), x)
        doubled.add_(1)
        return y * doubled.sin()

    return inside(outer, x)


def inner_region_that_writes(x, other):
    def outer(x):
        doubled = x * 2
        return inside(lambda x: doubled.add_(1) * x.exp(), x).sin()

    return inside(outer, x)


def between_two_regions(x, other):
    def region(x):
        return (x + other).tanh()

    y = inside(region, x)
    other.add_(1)
    return inside(region, y)


def in_a_reentrant_region(x, other):
    y = reentrant(lambda x: (x + other).tanh(), x)
    other.add_(1)
    return y


def in_a_selective_region(x, other):
    contexts = functools.partial(create_selective_checkpoint_contexts, saving_sums)
    y = inside(lambda x: ((x + other) * other).tanh(), x, context_fn=contexts)
    other.add_(1)
    return y


WRITERS = (
    argument,
    argument_that_is_passed,
    value,
    value_that_is_passed,
    through_data,
    through_a_view,
    region_in_a_region,
    between_in_a_region,
    inner_region_that_writes,
    between_two_regions,
    in_a_reentrant_region,
    in_a_selective_region,
)


def observed(call: Callable, change: Callable = lambda x, other, results: None) -> tuple:
    """The gradient, None where it is refused, and what the call leaves; `change` is the caller's, after the call."""
    x, other = numbers().requires_grad_(), numbers()
    results = call(x, other)
    results = results if isinstance(results, tuple) else (results,)
    with torch.no_grad():
        change(x, other, results)
    try:
        results[-1].sum().backward()
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        return None, other, other._version
    return x.grad, other, other._version


def assert_equal(actual: object, expected: object) -> None:
    torch.testing.assert_close(actual, expected, rtol=1e-12, atol=1e-14)


def compiled(function: Callable, **options) -> Callable:
    torch._dynamo.reset()
    return torch.compile(function, backend="dovetail", **options)


@pytest.mark.parametrize("function", WRITERS, ids=lambda each: each.__name__)
def test_written_by_the_call(function):
    """Catches the gradient of what was read in the forward, where eager recomputes it from what was written since.

    What is passed to `checkpoint`, eager refuses to find changed; what the region has by its closure, it reads.
    """
    before = dovetail.stats().eager
    assert_equal(observed(compiled(function)), observed(function))
    assert dovetail.stats().eager != before


def test_written_buffer_in_one_graph():
    """Catches the same with `fullgraph`, where nobody tells what is passed: of module state it is taken not to be."""
    module, other = Changed(), numbers()
    expected = observed(module), module.held.clone(), other
    module = Changed()
    actual = observed(compiled(module, fullgraph=True)), module.held.clone(), other
    assert_equal(actual, expected)
    line = inspect.getsourcelines(Changed.forward)[1] + 2
    (reason,) = (each for each in dovetail.stats().eager if f"{__file__}:{line}" in each)
    assert reason.endswith("changes what a checkpointed region reads again when it is recomputed")


def test_written_argument_in_one_graph():
    """Catches a gradient of either value, of which one is wrong."""
    assert observed(compiled(argument, fullgraph=True))[0] is None


@pytest.mark.parametrize("dynamic", [False, True])
def test_written_apart(dynamic):
    """Catches a graph that runs eagerly though no region reads what is written: elsewhere, before, after all saves."""

    def fn(x, other):
        other[4:].add_(1)
        y = inside(lambda x: (x[:3] + other[:3]).tanh() + other[3], x)
        other[3:].mul_(2)
        with torch.no_grad():
            inside(lambda x: x.sin() * other[0], x)
        return y

    before = dovetail.stats().eager
    call = compiled(fn, fullgraph=True, dynamic=dynamic)
    assert_equal(observed(call), observed(fn))
    assert dovetail.stats().eager == before


def test_written_by_another_argument():
    """Catches a variant for arguments that share memory, which is compiled when Dynamo is done, and breaks no graph."""

    def fn(x, other, alias):
        y = inside(lambda x: (x + other).tanh(), x)
        alias.add_(1)
        return y

    call = compiled(fn)
    call(numbers().requires_grad_(), numbers(), numbers())
    assert observed(lambda x, other: call(x, other, other[:]))[0] is None


def beside_a_saved_value(x, other):
    return inside(lambda x: (x + other).tanh(), x) * other.exp()


def beside_a_result(x, other):
    doubled = x * 2
    return doubled, inside(lambda x: (x + doubled).tanh(), x)


def beside_a_detached_result(x, other):
    doubled = x * 2
    return doubled.detach(), inside(lambda x: (x + doubled).tanh(), x)


def after_a_write(x, other):
    other.mul_(2)
    return inside(lambda x: (x + other).tanh(), x)


def of_an_argument(x, other):
    return inside(lambda x: (x * 2).tanh(), x) * other


@pytest.mark.parametrize(
    ("function", "change"),
    [
        (beside_a_saved_value, lambda x, other, results: other.add_(1)),
        (after_a_write, lambda x, other, results: other.add_(1)),
        (beside_a_result, lambda x, other, results: results[0].add_(1)),
        (beside_a_detached_result, lambda x, other, results: results[0].add_(1)),
        (of_an_argument, lambda x, other, results: x.add_(1)),
    ],
)
def test_written_by_the_caller(function, change):
    """Catches the gradient of what was read in the forward: eager recomputes it, or refuses."""
    call = compiled(function, fullgraph=True)
    assert_equal(observed(call), observed(function))
    before = observed(function, change)
    assert before[0] is None or not torch.equal(before[0], observed(function)[0]), "there is nothing to catch"
    assert observed(call, change)[0] is None


def test_words():
    """Catches an error that does not say what was changed, or why eager's backward may have come through."""
    doubled, y = compiled(beside_a_result)(numbers().requires_grad_(), numbers())
    with torch.no_grad():
        doubled.add_(1)
    with pytest.raises(RuntimeError, match=r"result 0 of .* is at version 1; .* a checkpointed region reads it"):
        y.sum().backward()
    other = numbers()  # which the program saves, so that autograd checks it
    y = compiled(after_a_write)(numbers().requires_grad_(), other)
    other.add_(1)
    with pytest.raises(RuntimeError, match=r"version 2; expected version 1 instead; a checkpointed region reads it"):
        y.sum().backward()


def test_inference_tensor():
    """Catches a call that raises, since autograd saves no such tensor; eager does not save what a region reads."""
    with torch.inference_mode():
        held = numbers()

    def fn(x, other):
        return inside(lambda x: (x + held).tanh(), x) * other

    assert_equal(observed(compiled(fn)), observed(fn))


def test_hooks_of_the_caller():
    """Catches a packed value in place of what a region inside reads again; one that `checkpoint` outside recomputes."""
    function = beside_a_saved_value

    def packed(x, other):
        with torch.autograd.graph.saved_tensors_hooks(torch.clone, lambda each: each):
            return call(x, other)

    def change(x, other, results):
        other.add_(1)

    call = compiled(function, fullgraph=True)
    assert_equal(observed(packed), observed(function))
    assert observed(packed, change)[0] is None
    actual = observed(lambda x, other: inside(lambda x: call(x, other), x), change)
    expected = observed(lambda x, other: inside(lambda x: function(x, other), x), change)
    assert_equal(actual, expected)


def test_second_derivatives():
    """Catches a change after the first backward: eager recomputes for each, or refuses."""

    def fn(x, other):
        return inside(lambda x: (x + other).tanh(), x).sin()

    call = compiled(fn, fullgraph=True)
    found = []
    for function in (fn, call):
        x, other = numbers().requires_grad_(), numbers()
        (gradient,) = torch.autograd.grad(function(x, other).sum(), x, create_graph=True)
        found.append((gradient, *torch.autograd.grad(gradient.sum(), x, retain_graph=True)))
    assert_equal(found[1], found[0])
    other.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(gradient.sum(), x)


def test_second_derivatives_of_one_argument():
    """Catches zeros that reach what another argument's gradient is computed from: times infinity they are NaN."""

    def fn(x, y):
        return inside(lambda x, y: x.sqrt() + y**3, x, y)

    found = []
    for function in (fn, compiled(fn, fullgraph=True)):
        x, y = torch.zeros(2, requires_grad=True), torch.ones(2, requires_grad=True)
        of_x, of_y = torch.autograd.grad(function(x, y).sum(), (x, y), create_graph=True)
        given = {"retain_graph": True, "allow_unused": True}
        found.append([torch.autograd.grad(one.sum(), (x, y), **given) for one in (of_x, of_y)])
    assert [[each is None for each in row] for row in found[1]] == [[False, True], [True, False]]
    assert_equal(found[1], found[0])


def test_gradient_that_is_written():
    """Catches a gradient that nobody may write in place, since it counts as a view of what a node was given."""
    call = compiled(lambda x: inside(torch.sin, x), fullgraph=True)
    x = numbers().requires_grad_()
    (gradient,) = torch.autograd.grad(call(x).sum(), x, create_graph=True)
    gradient.mul_(2)
    assert_equal(torch.autograd.grad(gradient.sum(), x), (-2 * x.detach().sin(),))
