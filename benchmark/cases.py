"""What is measured: a registry of small functions, each of which prepares one step of work for a compiler."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from dovetail.tools.demo.tasks import GPT2, RESNET, Task
from dovetail.tools.demo.trainer import Trainer

# Runs the work once; gives what must agree between the compilers after the first call.
Step = Callable[[], list[torch.Tensor]]
# What a case computes: a module or function of one tensor, and that tensor. True asks for the tiny size of a smoke run.
Build = Callable[[bool], tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor]]


@dataclass(frozen=True)
class Case:
    """`prepare(backend, smoke)` gives the step compiled by a `torch.compile` backend, or the eager one for None."""

    name: str
    prepare: Callable[[str | None, bool], Step]


def pointwise(smoke: bool) -> tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor]:
    """A chain of pointwise operations on a square matrix."""
    size = 64 if smoke else 1024
    return lambda x: torch.tanh(2 * x + 1) * torch.sigmoid(x) + x, torch.randn(size, size)


def softmax(smoke: bool) -> tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor]:
    """Softmax over the rows of a square matrix."""
    size = 64 if smoke else 1024
    return partial(torch.softmax, dim=-1), torch.randn(size, size)


def layer_norm(smoke: bool) -> tuple[nn.Module, torch.Tensor]:
    """Layer norm with weight and bias over the rows of a square matrix."""
    size = 64 if smoke else 1024
    return nn.LayerNorm(size), torch.randn(size, size)


def mlp(smoke: bool) -> tuple[nn.Module, torch.Tensor]:
    """Two linear layers with GELU between."""
    width = 32 if smoke else 256
    return nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)), torch.randn(256, width)


class TransformerBlock(nn.Module):
    """A pre-norm transformer block: causal attention, then an MLP; [batch, length, width] in and out."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        split = self.queries_keys_values(self.attention_norm(x)).unflatten(-1, (3, self.heads, -1))
        query, key, value = split.transpose(1, 3).unbind(2)
        attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.projection(attended.transpose(1, 2).flatten(-2))
        return x + self.mlp(x)


def transformer_block(smoke: bool) -> tuple[nn.Module, torch.Tensor]:
    """One transformer block on a batch of sequences."""
    width, length = (32, 16) if smoke else (256, 128)
    return TransformerBlock(width, heads=8), torch.randn(4, length, width)


def convolution_net(smoke: bool) -> tuple[nn.Module, torch.Tensor]:
    """Two convolutions with batch norm and ReLU, then pooling and a linear layer."""
    channels, size = (4, 8) if smoke else (32, 32)
    net = nn.Sequential(
        nn.Conv2d(3, channels, 3, padding=1, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
        nn.Conv2d(channels, 2 * channels, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(2 * channels),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(2 * channels, 10),
    )
    return net, torch.randn(16, 3, size, size)


def tiny(smoke: bool) -> tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor]:
    """So little work that the time of a call is what the call itself costs."""
    return lambda x: x + 1, torch.randn(4)


def prepare_inference(build: Build, backend: str | None, smoke: bool) -> Step:
    """Forward only, without grad, modules in eval mode."""
    compute, x = _seeded(build, smoke)
    if isinstance(compute, nn.Module):
        compute.eval()
    compiled = _compiled(compute, backend)

    def step() -> list[torch.Tensor]:
        with torch.no_grad():
            return [compiled(x)]

    return step


def prepare_training(build: Build, backend: str | None, smoke: bool) -> Step:
    """Forward and backward from a fixed tangent; gradients of the input and of all parameters, made anew each time."""
    compute, x = _seeded(build, smoke)
    x.requires_grad_()
    leaves = [x, *(compute.parameters() if isinstance(compute, nn.Module) else ())]
    tangent = torch.randn_like(compute(x))  # ones would make the gradients of softmax and layer norm vanish
    compiled = _compiled(compute, backend)

    def step() -> list[torch.Tensor]:
        for leaf in leaves:
            leaf.grad = None
        result = compiled(x)
        result.backward(tangent)
        return [result.detach(), *(leaf.grad for leaf in leaves if leaf.grad is not None)]

    return step


def prepare_task(task: Task, backend: str | None, smoke: bool) -> Step:
    """A whole training step of a demo model, AdamW compiled too. The demo's sizes are small enough for a smoke run."""
    trainer = Trainer(task, backend, backend)
    batch = task.batch(0)
    return lambda: [trainer.train(batch)]


def prepare_adamw(backend: str | None, smoke: bool) -> Step:
    """AdamW's step alone, on four square matrices with fixed gradients."""
    size = 16 if smoke else 512
    torch.manual_seed(0)
    parameters = [nn.Parameter(torch.randn(size, size)) for _ in range(4)]
    for parameter in parameters:
        parameter.grad = torch.randn(size, size)
    update = _compiled(torch.optim.AdamW(parameters).step, backend)

    def step() -> list[torch.Tensor]:
        update()
        return [parameter.detach() for parameter in parameters]

    return step


def _seeded(build: Build, smoke: bool) -> tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor]:
    torch.manual_seed(0)
    return build(smoke)


def _compiled(compute: Callable[..., Any], backend: str | None) -> Callable[..., Any]:
    return compute if backend is None else torch.compile(compute, backend=backend)


_BUILDS: dict[str, Build] = {
    "pointwise": pointwise,
    "softmax": softmax,
    "layer-norm": layer_norm,
    "mlp": mlp,
    "transformer-block": transformer_block,
    "convolution-net": convolution_net,
}

CASES: dict[str, Case] = {
    case.name: case
    for case in (
        Case("call-overhead", partial(prepare_inference, tiny)),
        *(Case(f"{name}-inference", partial(prepare_inference, build)) for name, build in _BUILDS.items()),
        *(Case(f"{name}-training", partial(prepare_training, build)) for name, build in _BUILDS.items()),
        Case("gpt2-training-step", partial(prepare_task, GPT2)),
        Case("resnet-training-step", partial(prepare_task, RESNET)),
        Case("adamw-step", prepare_adamw),
    )
}
