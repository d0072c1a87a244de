"""The border to autograd: repeated, missing, oddly laid out and forbidden backwards."""

import gc
import threading
import warnings
import weakref
from contextlib import nullcontext, suppress

import pytest
import torch
from differential import assert_same

import dovetail
from dovetail.errors import EagerWarning

pytestmark = pytest.mark.usefixtures("op_by_op")


def compiled(fn, **arguments):
    return torch.compile(fn, backend="dovetail", fullgraph=True, **arguments)


def ones(*shape: int) -> torch.Tensor:
    return torch.ones(*shape, requires_grad=True)


def wave(x):
    return x.sin().exp()


@pytest.mark.parametrize("fn", [wave, lambda x: x * 2], ids=["wave", "factor"])
def test_retained_graph(fn):
    """Catches saved values freed by the first of two backwards, and a gradient of freed ones, though eager raises: it
    saved and freed the factor, too (J8)."""
    for function in (fn, compiled(fn)):
        x = ones(4)
        total = function(x).sum()
        total.backward(retain_graph=True)
        once = x.grad.clone()
        total.backward()
        torch.testing.assert_close(x.grad, 2 * once)
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            total.backward()


def test_second_backward_without_saved_values():
    """Catches an error where eager has none: nothing was saved, so nothing was freed (J8)."""
    x = ones(4)
    total = compiled(lambda x: -x)(x).sum()
    total.backward()
    total.backward()
    assert x.grad.tolist() == [-2.0] * 4


def test_gradient_with_graph_that_nobody_differentiates():
    """Catches `create_graph=True` alone raising."""
    x = ones(4)
    (compiled(wave)(x).sum()).backward(create_graph=True)
    torch.testing.assert_close(x.grad.detach(), (x.cos() * wave(x)).detach())


@pytest.mark.parametrize("target", ["argument", "result"])
def test_in_place_change_before_backward(target):
    """Catches a gradient computed from values that the user changed after the forward (J6)."""
    x, weight = ones(4), ones(4)
    # "default" saves the result of `exp`; "min-cut" may compute it anew, and then its change does not matter.
    result = compiled(lambda x, w: (x * w).exp(), options={"partition": "default"})(x, weight)
    with torch.no_grad():
        (weight if target == "argument" else result).add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_in_place_change_of_a_view_of_what_is_saved():
    """Catches a silently wrong gradient: such a result is made below autograd, its version counter is its own."""
    result = compiled(lambda x: x.exp().view(2, 2), options={"partition": "default"})(ones(4))
    with torch.no_grad():
        result.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_in_place_change_of_a_sibling_view():
    """Catches a gradient that does not know of an in-place op on another view of the same intermediate."""

    def fn(x):
        y = x * 2
        return y[:2], y.view(2, 2)

    assert_same(fn, ones(4), then=lambda outputs, arguments: outputs[0].mul_(3))


def test_backward_on_another_thread():
    """Catches a border that relies on the state of the thread that ran the forward (J7)."""
    x = ones(4)
    result = compiled(wave)(x)
    found: list = []

    def run():
        (gradient,) = torch.autograd.grad(result.sum(), x, create_graph=True)
        found.append([gradient.detach(), *torch.autograd.grad(gradient.sum(), x, retain_graph=True)])
        result.sum().backward()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    y = ones(4)
    (gradient,) = torch.autograd.grad(wave(y).sum(), y, create_graph=True)
    torch.testing.assert_close(found, [[gradient.detach(), *torch.autograd.grad(gradient.sum(), y)]])
    torch.testing.assert_close(x.grad, gradient.detach())


def test_backward_under_deterministic_algorithms():
    """Catches a backward that ignores the mode in force when it runs, and returns other gradients for it (J7)."""
    fn, index = compiled(lambda x, i: x[i].sin()), torch.tensor([0, 2, 2, 1])
    x = ones(4)
    result = fn(x, index)
    torch.use_deterministic_algorithms(True)
    try:
        result.sum().backward()
    finally:
        torch.use_deterministic_algorithms(False)
    torch.testing.assert_close(x.grad, torch.tensor([1.0, 1.0, 2.0, 0.0]) * x.detach().cos())


def test_in_place_change_that_does_not_matter():
    """Catches a version check on what the backward does not need."""
    assert_same(lambda x: x.sin() * 2, ones(4), then=lambda output, arguments: output.mul_(3))


def test_partial_gradients():
    """Catches results without a gradient whose tangents are missing rather than zero."""
    x = ones(4)
    first, second, _ = compiled(lambda x: (x.sin(), x * x, x.exp()))(x)
    (first.sum() + second.sum()).backward()
    torch.testing.assert_close(x.grad, (x.cos() + 2 * x).detach())


def test_unneeded_gradients():
    """Catches a gradient for an argument that does not require one, or none for one that does."""
    assert_same(lambda x, y, i: (x * y)[i], ones(4), torch.ones(4), torch.tensor([0, 2]))


def test_layout_of_the_tangent():
    """Catches a backward that reads a strided or expanded gradient as if it were dense (J2)."""
    x, y = ones(3, 4), ones(3, 4)
    tangent = torch.linspace(-1, 1, 12).reshape(4, 3).t()
    fn = compiled(torch.sin)
    before = dovetail.stats().copies.total()
    fn(x).backward(tangent)
    assert dovetail.stats().copies.total() == before + 1
    torch.testing.assert_close(x.grad, (x.cos() * tangent).detach())
    fn(y).sum().backward()
    torch.testing.assert_close(y.grad, y.cos().detach())


def test_hooks_and_retained_gradients():
    """Catches hooks of arguments and results that don't run, or a retained gradient that stays None."""
    x, seen = ones(4), []
    y = compiled(wave)(x)
    y.register_hook(lambda gradient: seen.append("result") or gradient * 3)
    x.register_hook(lambda gradient: seen.append("argument"))
    y.retain_grad()
    y.sum().backward()
    assert seen == ["result", "argument"]
    assert y.grad.tolist() == [3.0] * 4
    torch.testing.assert_close(x.grad, (3 * x.cos() * wave(x)).detach())


def test_accumulated_gradients_are_not_shared():
    """Catches two arguments whose gradients lie in the same memory: accumulating into one changes the other."""
    x, y = ones(4), ones(4)
    fn = compiled(lambda x, y: x + y)
    for _ in range(2):
        fn(x, y).sum().backward()
    assert x.grad.tolist() == y.grad.tolist() == [2.0] * 4


@pytest.mark.usefixtures("young_garbage")
def test_saved_values_die_in_the_backward():
    """Catches activations that live on after the backward, in the graph or in the program (J5)."""
    weight = ones(64, 64)
    result = compiled(lambda x, w: (torch.relu(x @ w) @ w).sum())(ones(64, 64), weight)
    private = [weakref.ref(each) for each in result.grad_fn.call.kept.held]
    assert private, "expected the product to be saved"
    result.backward()
    gc.collect()
    assert [reference() for reference in private] == [None] * len(private)


def test_graph_breaks():
    """Catches gradients that stop at a graph break, or a second graph that mixes up the first one's results."""

    def fn(x):
        y = x * 2
        torch._dynamo.graph_break()
        y.mul_(3)
        z = y.view(2, 2)
        torch._dynamo.graph_break()
        return z.sin(), y

    assert_same(fn, ones(4), fullgraph=False, graphs=3)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_calls_without_grad(mode):
    """Catches results of such calls that require grad, or a program for one mode run in another."""

    def fn(x):
        return x * 2, x.view(2, 2)

    def run(call, x):
        with mode():
            without = call(x)
        return [(each.requires_grad, each.is_inference(), each._is_view()) for each in (*without, *call(x))]

    assert run(compiled(fn), ones(4)) == run(fn, ones(4))


def test_name_in_the_graph():
    """Catches errors and graph drawings that speak of a nameless node."""
    assert type(compiled(wave)(ones(4)).grad_fn).__name__ == "DovetailBackward"


def test_backward_of_each_result_by_itself():
    """Catches an error, or another gradient, where eager's second backward runs through what the first did not (J8)."""
    for function in (lambda x, y: (x.sin() * 2, y.exp()), compiled(lambda x, y: (x.sin() * 2, y.exp()))):
        x, y = ones(4), ones(4)
        first, second = (result.sum() for result in function(x, y))
        first.backward()
        assert y.grad is None
        second.backward()
        torch.testing.assert_close(y.grad, y.detach().exp())
        for again in (first, second):
            with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
                again.backward()


def test_no_gradient_comes_of_none():
    """Catches zeros, or NaN, for None in the call before another one, of whose results one got no gradient."""
    heads = (lambda x, y: (x.sin(), y.cos()), compiled(lambda x, y: (x.sin(), y.cos())))
    for root, head in zip((torch.sqrt, compiled(torch.sqrt)), heads, strict=True):
        x, y = torch.zeros(4, requires_grad=True), ones(4)
        _, second = head(root(x), y)
        second.sum().backward()
        assert x.grad is None
        torch.testing.assert_close(y.grad, -y.detach().sin())


def test_second_backward_through_what_the_first_has_freed():
    """Catches a gradient where eager raises: both results need what the first backward has freed (J8)."""
    for function in (lambda x: (x.sin() * 2, x.sin().sin()), compiled(lambda x: (x.sin() * 2, x.sin().sin()))):
        x = ones(4)
        wave = x.sin()
        first, second = function(wave)
        first.sum().backward()
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            second.sum().backward()


def test_version_is_checked_of_what_a_gradient_needs():
    """Catches "modified in place" for a result that needs none of what was changed, and its loss for one that does."""
    for function in (lambda x, y: (x.sin(), y.sin()), compiled(lambda x, y: (x.sin(), y.sin()))):
        x, y = ones(4) * 1, ones(4) * 1
        first, second = (result.sum() for result in function(x, y))
        with torch.no_grad():
            y.add_(1)
        first.backward()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            second.backward()


CHANGED_BETWEEN = {
    "by an optimizer": (lambda w, v: (w * w, w.sigmoid() * v), lambda results, w, v: w.sub_(w.grad)),
    "an argument": (lambda w, v: (w * v, w * v.exp()), lambda results, w, v: v.zero_()),
    "a result": (lambda w, v: (v.exp(), v.exp() * w), lambda results, w, v: results[0].add_(1)),
}


@pytest.mark.parametrize("name", CHANGED_BETWEEN)
def test_change_between_two_backwards(name):
    """Catches the gradient at a changed value: the program may save another value than eager, or share one."""
    fn, change = CHANGED_BETWEEN[name]

    def run(each):
        w, v = (torch.tensor(values, requires_grad=True) for values in ([1.0, 2.0], [3.0, 4.0]))
        results = each(w, v)
        results[0].sum().backward()
        with torch.no_grad():
            change(results, w, v)
        w.grad = v.grad = None
        results[1].sum().backward()
        return w.grad, v.grad

    expected = run(fn)
    with suppress(RuntimeError):
        torch.testing.assert_close(run(compiled(fn)), expected)
        return
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        run(compiled(fn))


def test_result_that_needs_nothing_after_another():
    """Catches an error where the second result's backward needs none of what the first has freed (J8)."""
    for function in (lambda x, y: (x * y, x + y), compiled(lambda x, y: (x * y, x + y))):
        x, y = ones(4), torch.full((4,), 3.0, requires_grad=True)
        first, second = function(x, y)
        first.sum().backward()
        for _ in range(2):
            second.sum().backward()
        assert x.grad.tolist() == [5.0] * 4


def test_saved_values_die_once_nothing_can_use_them():
    """Catches memory that is held for a result whose backward would raise: it needs what another's has freed."""

    def fn(x, w):
        hidden = (x * w).sin()
        return hidden, (hidden * w).tanh()

    x, w = ones(4), ones(4)
    hidden, head = compiled(fn)(x, w)
    node = hidden.grad_fn
    hidden.sum().backward()
    assert node.call.kept.held is None
    with pytest.raises(RuntimeError, match="a second time"):
        head.sum().backward()


AT_ZERO = {
    "a logarithm": lambda x: (x.sin(), x.log()),
    "a root of a sum": lambda x: ((x * 2).sin(), (x * 2 + x).sqrt()),
    "both, one by one": lambda x: (x.sin(), x.log(), x.sqrt()),
}


@pytest.mark.parametrize("name", AT_ZERO)
def test_absent_gradient_is_no_zero(name):
    """Catches NaN: 0 for a gradient that is not there, times an infinite derivative, where eager has a number."""
    found = []
    for function in (AT_ZERO[name], compiled(AT_ZERO[name])):
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        results = function(x)
        with pytest.warns(EagerWarning, match="ran again op by op") if found else nullcontext():
            results[0].sum().backward(retain_graph=True)
        found.append([x.grad.clone()])
        x.grad = None
        (results[0].sum() + results[1].sum()).backward()
        found[-1].append(x.grad)
    torch.testing.assert_close(found[1], found[0], equal_nan=True)
    assert any("ran again op by op" in reason for reason in dovetail.stats(reset=True).eager)


def test_sums_beyond_float16_are_no_infinite_values():
    """Catches steps of a scaled loss that run their backward again: finite gradients whose sum is not, in float16."""
    x = torch.ones(4096, dtype=torch.float16, requires_grad=True)
    first, _ = compiled(lambda x: (x.sin() * 2, x.exp()))(x)
    with warnings.catch_warnings(action="error"):
        first.backward(torch.full_like(first, 64))
    torch.testing.assert_close(x.grad, 128 * x.detach().cos())


@pytest.mark.parametrize("step", ["floor", "round", "sign", "zero_"])
def test_gradient_of_zeros_beside_an_absent_one(step):
    """Catches no gradient at all, for a result whose gradient is zeros in eager, where the other one was left out."""

    def fn(x):
        return x.sqrt(), getattr(x.clone(), step)()

    found = []
    for function in (fn, compiled(fn)):
        x = torch.tensor([0.0, 1.5], requires_grad=True)
        with pytest.warns(EagerWarning, match="ran again op by op") if found else nullcontext():
            function(x)[1].sum().backward()
        found.append(x.grad)
    assert found[0].tolist() == found[1].tolist() == [0, 0]


@pytest.mark.parametrize("step", ["floor", "round", "sign"])
@pytest.mark.filterwarnings("ignore:dovetail runs a backward eagerly")
def test_zeros_meet_what_an_absent_gradient_would(step):
    """Catches the zeros of a `floor` left out with the absent gradient that they join: eager has NaN, and a history."""

    def fn(x):
        root = x.sqrt()
        return root, getattr(root, step)()

    found = []
    for function in (fn, compiled(fn)):
        x = torch.tensor([0.0, 1.5], requires_grad=True)
        (first,) = torch.autograd.grad(function(x)[1].sum(), x)
        (second,) = torch.autograd.grad(function(x)[1].sum(), x, create_graph=True)
        (third,) = torch.autograd.grad(second[1], x)
        found.append([first, second.detach(), third, torch.tensor(second.requires_grad)])
    assert found[0][0].isnan().tolist() == [True, False]
    torch.testing.assert_close(found[1], found[0], equal_nan=True)


@pytest.mark.parametrize("name", AT_ZERO)
def test_absent_gradient_of_an_open_size_is_no_zero(name):
    """Catches the same NaN in a program for all sizes, where zeros were not told theirs."""
    function = compiled(AT_ZERO[name], dynamic=True)
    for size in (3, 5):
        found = []
        for each in (AT_ZERO[name], function):
            x = torch.arange(float(size), requires_grad=True)
            with pytest.warns(EagerWarning, match="ran again op by op") if found else nullcontext():
                each(x)[0].sum().backward()
            found.append(x.grad)
        torch.testing.assert_close(found[1], found[0])
