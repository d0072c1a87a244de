"""`torch.utils.checkpoint` around compiled functions, as `gradient_checkpointing_enable` puts it around layers."""

import functools
from collections.abc import Callable

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


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [plain, random])
def test_as_eager(make, way):
    """`CheckpointError` (10 saved, 5 recomputed); a mask that is drawn anew.

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
    assert after.eager == before.eager


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
