"""`torch.utils.checkpoint` around compiled functions, as `gradient_checkpointing_enable` puts it around layers."""

import functools
import gc
import inspect
import weakref
from collections.abc import Callable
from contextlib import suppress

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
)

import dovetail

pytestmark = pytest.mark.usefixtures("op_by_op")


def save_products(ctx, op, *args, **kwargs) -> CheckpointPolicy:
    is_product = op in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default)
    return CheckpointPolicy.MUST_SAVE if is_product else CheckpointPolicy.PREFER_RECOMPUTE


def around(**options) -> Callable:
    return lambda layer, x: checkpoint(layer, x, **({"use_reentrant": False} | options))


inside = around()
SELECTIVE = functools.partial(create_selective_checkpoint_contexts, save_products)
WAYS = {
    "early stop": inside,
    "no early stop": around(early_stop=False),
    "determinism check": around(determinism_check="default"),
    "reentrant": around(use_reentrant=True),
    "selective": around(context_fn=SELECTIVE),
    "in another": lambda layer, x: inside(lambda x: inside(layer, x).sin(), x),
    "two in another": lambda layer, x: inside(lambda x: inside(layer, inside(layer, x)).sin(), x),
    "one after another": lambda layer, x: inside(layer, inside(layer, x)),
    "twice in one": lambda layer, x: inside(lambda x: layer(x) + layer(x * 2), x),
    "before something else": lambda layer, x: inside(lambda x: layer(x).sin() * 2, x),
    "after something else": lambda layer, x: inside(lambda x: layer((x * x).exp()), x),
    "in a sequence": lambda layer, x: checkpoint_sequential([layer, layer, layer], 2, x, use_reentrant=False),
}


def plain() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.LayerNorm(8), nn.Linear(8, 8), nn.GELU())


def random() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.GELU(), nn.Dropout(0.3))


def normalized() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 8))


class Counted(nn.Module):
    """Writes a buffer first, and one last, when everything is saved."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("mean", torch.zeros(8))

    def forward(self, x):
        self.calls += 1
        result = self.linear(x).tanh()
        self.mean.mul_(0.9).add_(result.detach().mean(0), alpha=0.1)
        return result


LINE = inspect.getsourcelines(Counted.forward)[1] + 3
LATE = {f"{__file__}:{LINE}: writes an argument when everything is saved, inside of saved-tensor hooks"}


def observed(make: Callable, way: Callable, compile_layer: Callable) -> dict[str, torch.Tensor]:
    """Two steps: results, gradients, buffers, version counters, and the numbers that are drawn next."""
    torch.manual_seed(0)
    module = make().double()
    layer = compile_layer(module)
    seen: dict[str, torch.Tensor] = {}
    for step in range(2):
        x = torch.rand(4, 8, dtype=torch.float64).requires_grad_()
        result = way(layer, x)
        seen[f"result {step}"] = result.detach().clone()
        (result * result).sum().backward()
        seen[f"gradient {step}"] = x.grad
        seen |= {f"gradient of {name} {step}": each.grad.clone() for name, each in module.named_parameters()}
        seen |= {f"{name} {step}": each.clone() for name, each in module.named_buffers()}
        versions = {name: each._version for name, each in [*module.named_buffers(), *module.named_parameters()]}
        seen |= {f"version of {name} {step}": torch.tensor(each) for name, each in versions.items()}
        seen[f"next random number {step}"] = torch.rand(1)
    return seen


@pytest.mark.filterwarnings("ignore::dovetail.errors.EagerWarning")
@pytest.mark.parametrize(
    ("make", "way"),
    [
        *((plain, way) for way in WAYS if way not in ("reentrant", "twice in one")),
        *((make, way) for make in (random, Counted) for way in ("early stop", "reentrant", "twice in one")),
        (normalized, "twice in one"),
        *((make, "in another") for make in (random, Counted)),
        (Counted, "no early stop"),
    ],
)
def test_as_eager(make, way):
    """`CheckpointError` (10 saved, 5 recomputed); a mask that is drawn anew; a buffer written too often or too rarely.

    The compiler's own tensors counted as saved, where the first call is in the region.
    """
    torch._dynamo.reset()
    before = dovetail.stats()
    compiled = observed(make, WAYS[way], functools.partial(torch.compile, backend="dovetail", fullgraph=True))
    expected = observed(make, WAYS[way], lambda module: module)
    assert compiled.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(compiled[name], value, msg=lambda text, name=name: f"{name}: {text}")
    after = dovetail.stats()
    assert after.graphs > before.graphs
    # Its last write is after the last save: whether a recomputation comes that far, only eager's order tells.
    assert set(after.eager - before.eager) <= (LATE if make is Counted else set())


def test_hooks_that_fail():
    """An argument that is not written where the user's hook raises after eager has written it; a call after that."""

    class Full(Exception):
        pass

    def pack(tensor):
        raise Full

    def fn(x, total):
        total.add_(1)
        return x.sin()

    torch._dynamo.reset()
    for call in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        x, total = torch.ones(3, requires_grad=True), torch.zeros(3)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda each: each), pytest.raises(Full):
            call(x, total)
        assert total.tolist() == [1] * 3
        call(x, total).sum().backward()
        assert total.tolist() == [2] * 3
        torch.testing.assert_close(x.grad, x.detach().cos())


def test_hooks_that_call_the_program_and_fail():
    """An argument that is not written, since a call within the hook took the outer call's place."""

    class Full(Exception):
        pass

    def fn(x):
        x.mul_(2)
        return x.sin()

    def argument():
        return torch.ones(3, requires_grad=True) * 1

    torch._dynamo.reset()
    for call in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        call(argument())
        outer, inner = argument(), argument()
        waiting = [inner]

        def pack(tensor, call=call, waiting=waiting):
            if not waiting:
                return tensor
            with torch.enable_grad():
                call(waiting.pop())
            raise Full

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda each: each), pytest.raises(Full):
            call(outer)
        assert (outer.tolist(), inner.tolist()) == ([2] * 3, [2] * 3)


def test_what_hooks_have_ended_is_dropped():
    """Recomputed activations that wait for Python's collector, since an error and what it had passed through held each
    other."""

    def fn(x, total):
        total.add_(1)
        return (x * 2).sin().exp()

    torch._dynamo.reset()
    compiled, packed = torch.compile(fn, backend="dovetail", fullgraph=True), []

    def pack(tensor):
        packed.append(weakref.ref(tensor))
        raise KeyError

    compiled(torch.ones(3, requires_grad=True), torch.zeros(3))
    gc.collect()
    gc.disable()
    try:
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda each: each), suppress(KeyError):
            compiled(torch.ones(3, requires_grad=True) * 1, torch.zeros(3))
        assert [each() for each in packed] == [None]
    finally:
        gc.enable()


@pytest.mark.parametrize("way", ["early stop", "no early stop", "in another"])
def test_second_backward(way):
    """A graph that is kept can't be run again, since what the recomputation gave is gone."""
    torch._dynamo.reset()
    module = plain()
    compiled = torch.compile(module, backend="dovetail", fullgraph=True)
    gradients = []
    for layer in (module, compiled):
        x = torch.linspace(-1, 1, 32).reshape(4, 8).requires_grad_()
        loss = WAYS[way](layer, x).sum()
        loss.backward(retain_graph=True)
        loss.backward()
        gradients.append(x.grad)
    torch.testing.assert_close(gradients[1], gradients[0])
