"""Gradients of a compiled function, differentiated again: as eager's, or refused with the reason."""

import copy
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch_mlir import ir

import dovetail
from dovetail.backends.python.emitter import Emitter
from dovetail.dialects.context import make_context
from dovetail.passes.border.state_replay import StateReplayPass
from dovetail.runtime.program import load_program
from dovetail.runtime.replaying import joined

pytestmark = pytest.mark.usefixtures("op_by_op")


def compiled(fn, **arguments):
    return torch.compile(fn, backend="dovetail", fullgraph=True, **arguments)


def numbers(*shape: int) -> torch.Tensor:
    return torch.linspace(-0.9, 1.1, torch.Size(shape).numel()).reshape(shape).requires_grad_()


def orders(fn: Callable, leaves: list[torch.Tensor], highest: int) -> list[torch.Tensor]:
    """The gradients of `fn`'s result, of their squares' sum, and so on."""
    torch.manual_seed(3)
    results = fn(*leaves)
    found: list[torch.Tensor] = []
    total = sum((each * each).sum() for each in (results if isinstance(results, tuple) else (results,)))
    for _ in range(highest):
        gradients = torch.autograd.grad(total, leaves, create_graph=True)
        found += gradients
        total = sum((gradient * gradient).sum() for gradient in gradients)
    return [*found, torch.get_rng_state()]


def assert_same_orders(fn: Callable, *leaves: torch.Tensor, highest: int = 2, outside: Callable | None = None) -> None:
    """Asserts equal gradients of all orders; `outside(fn)` may wrap the compiled function in eager code."""
    outside = outside or (lambda fn: fn)
    expected = orders(outside(fn), _copies(leaves), highest)
    before = dovetail.stats().graphs
    actual = orders(outside(compiled(fn)), _copies(leaves), highest)
    assert dovetail.stats().graphs == before + 1
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4)


def _copies(leaves) -> list[torch.Tensor]:
    return [leaf.detach().clone().requires_grad_() for leaf in leaves]


FUNCTIONS: dict[str, Callable] = {
    "polynomial": lambda x: x**3 + 2 * x * x - x,
    "sine": torch.sin,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "exp": torch.exp,
    "softmax": lambda x: F.softmax(x, -1) * x,
    "log softmax": lambda x: F.log_softmax(x, -1),
    "variance": lambda x: (x - x.mean(1, keepdim=True)) * torch.rsqrt(x.var(1, keepdim=True) + 1),
    "gelu": F.gelu,
    "silu": F.silu,
    "relu": lambda x: F.relu(x) * x.exp(),
    "matrix product": lambda x: (x @ x.t()).tanh() @ x,
    "gather": lambda x: x[torch.tensor([0, 2, 2])] * x,
    "view": lambda x: (x.exp().view(4, 3), x.t().sin()),
    "returned twice": lambda x: (x.exp(), x.exp() * 2),
    "argument returned": lambda x: (x.clone(), (x * x).sin()),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_third_order(name):
    """Catches a second or third derivative that lost a path: through saved results, recomputed values, views (J8)."""
    assert_same_orders(FUNCTIONS[name], numbers(3, 4), highest=3)


@pytest.mark.parametrize("fn", [lambda x: F.layer_norm(x, (4,)) * x, lambda x: F.group_norm(x, 2) * x])
def test_normalisation(fn):
    """Catches a second derivative without what mean and variance contribute.

    Not the third: from there on PyTorch's own derivative of `native_layer_norm` differs from the definition's.
    """
    assert_same_orders(fn, numbers(3, 4).double())


@pytest.mark.parametrize("dynamic", [False, True])
def test_normalisation_by_kernels(dynamic):
    """Catches a second derivative of a large layer norm that raises: ATen's gradients have none by the mean."""
    torch.manual_seed(0)
    leaves = [torch.randn(700, 752), torch.randn(752), torch.randn(752)]

    def second(fn, given):
        taken = _copies(given)
        first = torch.autograd.grad(fn(*taken).sin().sum(), taken, create_graph=True)
        return torch.autograd.grad(sum((each * each).sum() for each in first), taken)

    def norm(x, weight, bias):
        return F.layer_norm(x, x.shape[1:], weight, bias)

    torch._dynamo.reset()
    dovetail.stats(reset=True)
    ours, eager = second(compiled(norm, dynamic=dynamic), leaves), second(norm, leaves)
    exact = second(norm, [each.double() for each in leaves])
    for one, other, right in zip(ours, eager, exact, strict=True):
        assert (one - right).abs().max() <= 3 * (other - right).abs().max()
    assert any("layer_norm" in name for name, _ in dovetail.stats().library_calls)


@pytest.mark.parametrize("partition", ["min-cut", "default"])
def test_both_partitions(partition):
    """Catches a replay that relies on what one algorithm saves, and mixes up positions with another."""
    x, w, b = numbers(3, 4), numbers(4, 4), numbers(4)
    torch._dynamo.reset()
    fn = compiled(lambda x, w, b: F.gelu((x @ w + b).tanh() @ w) * x, options={"partition": partition})
    expected = orders(lambda x, w, b: F.gelu((x @ w + b).tanh() @ w) * x, _copies([x, w, b]), 2)
    torch.testing.assert_close(orders(fn, _copies([x, w, b]), 2), expected, rtol=1e-4, atol=1e-4)


def critic(kind: str) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(1)
    if kind == "mlp":
        return nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.2), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1)), numbers(
            5, 6
        )
    model = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.SiLU(), nn.Flatten(), nn.Linear(64, 1))
    return model.train(kind == "training"), numbers(3, 2, 4, 4)


@pytest.mark.parametrize("kind", ["mlp", "training", "evaluation"])
def test_gradient_penalty(kind):
    """Catches wrong parameter gradients of a WGAN-GP loss, or buffers that a second run of the forward updates."""
    model, x = critic(kind)
    found = []
    for compile_it in (False, True):
        mine, leaf = copy.deepcopy(model), x.detach().clone().requires_grad_()
        call = compiled(mine) if compile_it else mine
        score = call(leaf)
        (gradient,) = torch.autograd.grad(score.sum(), leaf, create_graph=True)
        penalty = ((gradient.flatten(1).norm(dim=1) - 1) ** 2).mean()
        (score.mean() + 10 * penalty).backward()
        found.append([penalty.detach(), *(parameter.grad for parameter in mine.parameters()), *mine.buffers()])
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-5)


def test_hessian():
    """Catches `torch.autograd.functional`'s double backward, which differentiates by the tangent, going wrong."""

    def fn(x):
        return (x.sin() * x.exp()).sum() + (x * x).prod()

    x, v = numbers(4).detach(), torch.linspace(1, 2, 4)
    call = compiled(fn)
    functional = torch.autograd.functional
    torch.testing.assert_close(functional.hessian(call, x), functional.hessian(fn, x))
    torch.testing.assert_close(functional.hvp(call, x, v), functional.hvp(fn, x, v))
    torch.testing.assert_close(functional.vhp(call, x, v), functional.vhp(fn, x, v))


def test_tangent_that_requires_grad():
    """Catches a gradient that counts as independent of the tangent, in another layout than traced too."""
    found = []
    for fn in (torch.exp, compiled(torch.exp)):
        x, tangent = numbers(3, 4), numbers(4, 3)
        (gradient,) = torch.autograd.grad(fn(x), x, tangent.t(), create_graph=True)
        found.append(torch.autograd.grad((gradient * gradient).sum(), (x, tangent)))
    torch.testing.assert_close(found[1], found[0])


def test_missing_tangents_and_unneeded_gradients():
    """Catches a replay that expects every tangent, or returns the gradient of another argument."""

    def fn(x, y, z):
        return (x * y).sin(), y.exp() * z, x + z

    found = []
    for call in (fn, compiled(fn)):
        x, y, z = numbers(4), numbers(4).detach(), numbers(4)
        (gradient,) = torch.autograd.grad(call(x, y, z)[0].sum(), x, create_graph=True)
        found.append([gradient.detach(), *torch.autograd.grad(gradient.sum(), [x])])
    torch.testing.assert_close(found[1], found[0])


def test_first_order_before_second():
    """Catches a compiled backward that uses up what a later differentiable one needs."""
    found = []
    for fn in (wave, compiled(wave)):
        x = numbers(4)
        total = fn(x).sum()
        total.backward(retain_graph=True)
        (gradient,) = torch.autograd.grad(total, x, create_graph=True)
        gradient.sum().backward(retain_graph=True)
        gradient.sum().backward()
        found.append(x.grad)
    torch.testing.assert_close(found[1], found[0])


def wave(x):
    return (x * x).sin().exp()


def test_freed_graph():
    """Catches a differentiable backward that still runs once the graph was freed."""
    x = numbers(4)
    total = compiled(wave)(x).sum()
    total.backward(create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError, match="retain_graph"):
        total.backward(create_graph=True)


def test_dropout():
    """Catches a replay that drops other elements than the forward did, or moves the generator (J12)."""
    assert_same_orders(lambda x: F.dropout(x.sin(), 0.5).exp() * F.dropout(x, 0.3), numbers(8), highest=3)


def test_earlier_draw_that_no_gradient_needs():
    """Catches a replay without the draws that came before: it draws the wrong numbers."""

    def fn(x):
        noise = torch.rand(8)
        return x.exp() * torch.rand_like(x), (x * torch.randn(8)).sin(), noise

    def outside(fn):
        return lambda x: fn(x)[:2]

    assert_same_orders(fn, numbers(8), outside=outside)


def test_under_autocast():
    """Catches a replay that autocast casts though its forward and its compiled backward run without (J7, J14)."""
    found = []
    for fn, inside in ((layer, False), (compiled(layer), True)):
        x, w = numbers(4, 4), numbers(4, 4)
        result = fn(x, w)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=inside):
            gradients = torch.autograd.grad(result.sum(), (x, w), create_graph=True)
        found.append(torch.autograd.grad(sum((each * each).sum() for each in gradients), (x, w)))
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-5)


def layer(x, w):
    return (x @ w).tanh()


MUTATIONS: dict[str, Callable] = {
    "mul_": lambda x, y: x.mul_(y).sin(),
    "sin_ twice": lambda x, y: x.mul_(y).sin_().view(2, 2),
    "copy_": lambda x, y: x.copy_(y.sin()).exp(),
    "no_grad buffer": lambda x, y: x.sin() * y,
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_mutated_argument(name):
    """Catches a replay on the new value of an argument that the function changed, or one that misses its history."""

    def outside(fn):
        def run(x, y):
            changed = x * 1
            result = fn(changed, y)
            return result, changed.view(2, 2)

        return run

    assert_same_orders(MUTATIONS[name], numbers(4), numbers(4), outside=outside)


def test_old_value_that_nobody_saved():
    """Catches a replay on the new value where the old one is gone: an error must say so, once it matters."""

    def fn(x, y):
        z = (x + y).relu()
        x.add_(1)
        return z * z

    x = numbers(4)
    leaf = x * 1
    (gradient,) = torch.autograd.grad(compiled(fn)(leaf, numbers(4)).sum(), x, create_graph=True)
    torch.testing.assert_close(gradient.detach(), 2 * (2 * x).relu().detach())
    with pytest.raises(RuntimeError, match=r"what argument L\['x'\] held before the function changed it"):
        gradient.sum().backward()


def test_old_value_of_which_the_result_is_saved():
    """Catches a replay on the new value: the backward needs the result alone, the second derivative its history."""
    x = numbers(4)
    (gradient,) = torch.autograd.grad(compiled(lambda x: x.exp_() * 2)(x * 1).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"what argument L\['x'\] held before the function changed it"):
        gradient.sum().backward()


def test_kept_argument_changed_after_the_call():
    """Catches a replay on an argument that the user changed, which no saved value's version check sees."""

    def fn(x, w, b):
        return (x @ w + b).tanh().sum(1, keepdim=True) * x

    b = numbers(4)
    x = numbers(4, 4)
    result = compiled(fn)(x, numbers(4, 4), b)
    with torch.no_grad():
        b.add_(1)
    (gradient,) = torch.autograd.grad(result.sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"argument L\['b'\] was modified in place"):
        gradient.sum().backward()


SUMS: dict[str, Callable] = {
    "of two": lambda x, y: (x + y).sin().exp(),
    "of one": lambda x, y: F.gelu(x * 2 + 1) * 3 + y,
    "of what is computed": lambda x, y: (x.sin() + y).exp() * 2,
    "turned": lambda x, y: ((x.t() + y)[1:] * 0.5).tanh().cumsum(0),
    "in turn": lambda x, y: (x + y).exp() * 3 + (x + y + 1).sin(),
    "of other types": lambda x, y: (x.double() + y).sin().exp(),
}


@pytest.mark.parametrize("name", SUMS)
def test_saved_sum(name):
    """Catches a saved sum that counts as constant, or gives its history to one of its terms alone."""
    assert_same_orders(SUMS[name], numbers(4, 4), numbers(4, 4), highest=3, outside=of_their_own)


def of_their_own(fn: Callable) -> Callable:
    """`fn`, given arguments that nobody else holds."""
    return lambda *leaves: fn(*(leaf * 1 for leaf in leaves))


@pytest.mark.parametrize("name", ["of two", "of one"])
def test_terms_changed_after_the_call(name):
    """Catches a replay on what the terms of a saved sum became: eager has saved the sum, too."""

    def outside(fn):
        def run(x, y):
            x, y = x * 1, y * 1
            result = fn(x, y)
            with torch.no_grad():
                x.add_(1), y.mul_(2)
            return result

        return run

    assert_same_orders(SUMS[name], numbers(4, 4), numbers(4, 4), outside=outside)


def test_sum_of_what_a_write_hides():
    """Catches a second derivative twice as large: autograd does not see the factor, which a replay would repeat."""

    def fn(buffer, weight):
        with torch.no_grad():
            buffer.mul_(2)
        return (weight**4).sum()

    weight = numbers(4)
    (first,) = torch.autograd.grad(compiled(fn)(weight.data, weight), weight, create_graph=True)
    torch.testing.assert_close(first.detach(), 4 * weight.detach() ** 3)
    with pytest.raises(RuntimeError, match="can't be differentiated again"):
        first.sum().backward()


def test_saved_sum_twice():
    """Catches a sum whose memory the backward overwrites, though another one takes it in turn."""
    found = []
    for fn in (SUMS["of two"], compiled(SUMS["of two"])):
        x, y = numbers(4, 4), numbers(4, 4)
        total = fn(x * 1, y * 1).square().sum()
        first = torch.autograd.grad(total, (x, y), retain_graph=True)
        again = torch.autograd.grad(total, (x, y), create_graph=True)
        found.append([*first, *again, *torch.autograd.grad(again[0].square().sum(), (x, y))])
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-4)


def test_saved_argument_changed_after_the_call():
    """Catches a replay that skips the version check of the compiled backward (J6)."""
    x, w = numbers(4), numbers(4)
    result = compiled(lambda x, w: (x * w).sin())(x, w)
    with torch.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(result.sum(), x, create_graph=True)


def test_op_without_a_second_derivative():
    """Catches a silent zero where autograd itself has no derivative, as for fused attention's backward."""
    q = numbers(1, 2, 4, 8)
    attention = compiled(lambda q: F.scaled_dot_product_attention(q, q, q))
    (gradient,) = torch.autograd.grad(attention(q).sum(), q, create_graph=True)
    with pytest.raises(RuntimeError, match="derivative for aten::_scaled_dot_product_flash_attention_for_cpu_backward"):
        gradient.sum().backward()


def test_nothing_is_emitted_before_it_is_needed(monkeypatch):
    """Catches Python made for functions that nobody differentiates twice."""
    x, emitted = numbers(4), []
    monkeypatch.setattr(
        joined, "Emitter", lambda *arguments, **more: emitted.append(arguments) or Emitter(*arguments, **more)
    )
    total = compiled(wave)(x).sum()
    total.backward(retain_graph=True)
    assert not emitted
    torch.autograd.grad(total, x, create_graph=True)
    assert len(emitted) == 1


def program(*, once: str = "", forward: str = "", backward: str = "") -> Callable:
    """The program for `x * x`, its border and functions with something added."""
    ref, tensor = "!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>", "!torch.vtensor<[4],f32>"
    text = f"""
module attributes {{dovetail.level = "split"}} {{
  func.func @call(%x: {ref} {{dovetail.name = "x", dovetail.requires_grad}}) -> {ref}
      attributes {{dovetail.role = "call"}} {{
    %0 = call @apply(%x) : ({ref}) -> {ref}
    return %0 : {ref}
  }}
  func.func @forward(%x: {ref}) -> ({ref}, {tensor} {{dovetail.saved = "private"}})
      attributes {{dovetail.role = "forward"}} {{
    %value = "dovetail.read"(%x) : ({ref}) -> {tensor}
    %1 = torch.aten.mul.Tensor %value, %value : {tensor}, {tensor} -> {tensor}
    %2 = torch.aten.sin %1 : {tensor} -> {tensor}
    %3 = torch.aten.cos %1 : {tensor} -> {tensor}
    {forward}
    %o = "dovetail.own"(%2) {{requires_grad = true}} : ({tensor}) -> {ref}
    return %o, %3 : {ref}, {tensor}
  }}
  func.func @backward(%saved: {tensor}, %t: {ref} {{dovetail.tangent_of = 0 : i64}}) -> {tensor}
      attributes {{dovetail.role = "backward"}} {{
    %value = "dovetail.read"(%t) : ({ref}) -> {tensor}
    {backward}
    %1 = torch.aten.mul.Tensor %saved, %value : {tensor}, {tensor} -> {tensor}
    return %1 : {tensor}
  }}
  func.func private @apply({ref}) -> {ref}
      attributes {{dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"{once}}}
}}"""
    module = ir.Module.parse(text, make_context())
    StateReplayPass().run(module)
    call, _ = load_program(module, {})
    return lambda x: call([x])[0]


def second_order(fn: Callable) -> torch.Tensor:
    x = numbers(4)
    (gradient,) = torch.autograd.grad(fn(x).sum(), x, create_graph=True)
    return torch.autograd.grad(gradient.sum(), x)[0]


TENSOR, FLAG = "!torch.vtensor<[4],f32>", "!torch.vtensor<[],i1>"
CHECK = f"""
    %flag = torch.aten.isfinite %1 : {TENSOR} -> !torch.vtensor<[4],i1>
    %all = torch.aten.all %flag : !torch.vtensor<[4],i1> -> {FLAG}
    torch.operator "torch.aten._assert_async"(%all) {{dovetail.effect = "other", dovetail.reason = "effect"}}
        : ({FLAG}) -> ()
"""
MUTATION = f"""
    %r = torch.operator "torch.aten.relu_"(%1) {{dovetail.effect = "writes", dovetail.reason = "effect"}}
        : ({TENSOR}) -> {TENSOR}
"""
DRAW = f"""
    %none = torch.constant.none
    %r = torch.operator "torch.aten.bernoulli"(%saved, %none) {{dovetail.effect = "draws", dovetail.reason = "effect"}}
        : ({TENSOR}, !torch.none) -> {TENSOR}
"""


def test_before_regions_are_made():
    """Catches a replay that works on modules after `lower-regions` only."""
    x = numbers(4).detach()
    torch.testing.assert_close(second_order(program()), -2 * x * (x * x).sin())


def test_check_in_the_forward_runs_once():
    """Catches a replay refused for an effect that it needs not repeat."""
    fn = program(forward=CHECK)
    torch.testing.assert_close(second_order(fn), second_order(program()))


REFUSED = {
    "the function detaches x": {"once": ', dovetail.once = "the function detaches x"'},
    "'aten.relu_.default' mutates memory": {"forward": MUTATION},
    "'aten.bernoulli.default' in the backward": {"backward": DRAW},
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refusals(reason):
    """Catches a derivative of what eager counts as constant, or an effect repeated; the error must say which."""
    fn, x = program(**REFUSED[reason]), numbers(4)
    (gradient,) = torch.autograd.grad(fn(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=f"can't be differentiated again: .*{reason}"):
        gradient.sum().backward()


def test_gradients_that_are_not_differentiated_are_written():
    """Catches an error where eager has none: what says that it can't be differentiated again was a view."""

    def fn(x, y):
        return x.detach() * x * y

    found = []
    for function in (fn, compiled(fn)):
        x, y = numbers(4), numbers(4)
        gradients = torch.autograd.grad(function(x, y).sum(), (x, y), create_graph=True)
        found.append([gradient.mul_(2).detach() for gradient in gradients])
    torch.testing.assert_close(found[1], found[0])


WITH_ABSENT = {
    "a logarithm": lambda x: (x.sin(), x.log()),
    "a root of a sum": lambda x: ((x * 2).sin(), (x * 2 + x).sqrt()),
    "random numbers": lambda x: (F.dropout(x, 0.5).sin(), F.dropout(x).sqrt(), F.dropout(x, 0.2).cos()),
    "a saved result": lambda x: (x.exp(), x.log() * x.exp()),
}


@pytest.mark.parametrize("name", WITH_ABSENT)
def test_absent_gradient_of_a_gradient(name):
    """Catches NaN in a first or second derivative, from zeros for an absent gradient times an infinite derivative."""
    found = []
    for function in (WITH_ABSENT[name], compiled(WITH_ABSENT[name])):
        x = torch.tensor([0.0, 1.0, 0.5], requires_grad=True)
        torch.manual_seed(3)
        results = function(x)
        for index in (0, len(results) - 1):
            (first,) = torch.autograd.grad(results[index].sum(), x, create_graph=True)
            (second,) = torch.autograd.grad(first.square().sum(), x, retain_graph=True)
            found.append((first, second, torch.get_rng_state()))
    torch.testing.assert_close(found[2:], found[:2], equal_nan=True)


def test_gradient_that_can_not_be_differentiated_beside_an_absent_one():
    """Catches a gradient of zeros that requires a gradient, by way of zeros for the absent one: the second is zeros."""
    for function in (lambda x: (x.sin(), x.floor()), compiled(lambda x: (x.sin(), x.floor()))):
        x = numbers(3)
        (first,) = torch.autograd.grad(function(x)[1].sum(), x, create_graph=True)
        assert first.tolist() == [0, 0, 0]
        assert not first.requires_grad


@pytest.mark.parametrize(
    "part", [lambda x: x[:, 0:2], lambda x: x[1], torch.diagonal], ids=["slice", "select", "diagonal"]
)
def test_views_of_shared_complex_memory(part: Callable) -> None:
    """ATen's scatters have no derivative of complex numbers: a second derivative through shared memory raised."""

    def second(fn: Callable) -> torch.Tensor:
        leaf = torch.complex(numbers(12), numbers(12)).detach().requires_grad_()
        results = fn(leaf[:6].view(2, 3), leaf[3:9].view(2, 3))
        total = sum((result * result * result).abs().sum() for result in results)
        [first] = torch.autograd.grad(total, leaf, create_graph=True)
        return torch.autograd.grad(first.abs().square().sum(), leaf)[0]

    def fn(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x[::2] - y[::2], part(y).transpose(0, -1)

    torch.testing.assert_close(second(compiled(fn)), second(fn))


def test_copies_of_another_type_size_or_device(device: str) -> None:
    """ATen's `copy` has no derivative: where a copy stays one, as of another element type, into open sizes, or of a
    number into memory of a GPU, a second derivative raised."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        doubled, constant, row = x * 2, x + 1, x * 3
        doubled.copy_(x.sin().double())
        constant[:] = 2.5
        row.copy_(x[0])
        return doubled.sin() * constant.sin() * row.sin() * x

    def second(fn: Callable) -> list[torch.Tensor]:
        return orders(fn, [torch.linspace(-0.9, 1.1, 6, device=device).view(2, 3).requires_grad_()], highest=2)

    expected = second(fn)
    for is_dynamic in (False, True):
        torch.testing.assert_close(second(compiled(fn, dynamic=is_dynamic)), expected)


def test_what_hangs_on_nothing_that_requires_a_gradient_counts_as_constant() -> None:
    """Catches other numbers than eager's where a leaf stopped to require a gradient after the call, or an argument was
    overwritten through a view; and docs/limits.md when it says too much: eager's first derivatives require one here."""

    def stopped(fn: Callable) -> torch.Tensor:
        x, weight = numbers(3), numbers(3)
        result = fn(x, weight)
        x.requires_grad_(False)
        return torch.autograd.grad(result.sum(), weight, create_graph=True)[0]

    def overwritten(fn: Callable) -> torch.Tensor:
        leaf = numbers(3)
        x = leaf * 1
        fn(x)
        return torch.autograd.grad(x.square().sum(), leaf, create_graph=True)[0]

    for derived, fn in (
        (stopped, lambda x, weight: x.sin() * weight),
        (overwritten, lambda x: x.unsqueeze(0).fill_(2)),
    ):
        expected, actual = derived(fn), derived(compiled(fn))
        torch.testing.assert_close(actual, expected)
        assert (expected.requires_grad, actual.requires_grad) == (True, False)


@pytest.mark.parametrize("wanted", ["all", "weight"])
def test_leaves_that_stop_requiring_gradients(wanted: str) -> None:
    """Catches a gradient for a leaf that asks for none any more, or none for one that asks again."""

    def gradients(fn: Callable) -> list[torch.Tensor | None]:
        x, weight, scale = numbers(3), numbers(3), numbers(3)
        result = fn(x, weight, scale)
        x.requires_grad_(False)
        scale.requires_grad_(False).requires_grad_()
        result.sum().backward(inputs=[weight] if wanted == "weight" else None)
        return [x.grad, weight.grad, scale.grad]

    def fn(x, weight, scale):
        return x.sin() * weight + scale.exp()

    for actual, expected in zip(gradients(compiled(fn)), gradients(fn), strict=True):
        assert (actual is None) == (expected is None)
        if expected is not None:
            torch.testing.assert_close(actual, expected)
