"""What is measured on a GPU: computations of the size that fills one, and calls that hardly compute."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

Build = Callable[["Make"], tuple[Callable, tuple[torch.Tensor, ...]]]
"""Gives what is computed, and its arguments."""


@dataclass(frozen=True)
class Make:
    """Makes tensors and modules of a case: `shrink` divides every size, for a smoke run."""

    device: str
    dtype: torch.dtype
    shrink: int = 1

    def randn(self, *sizes: int) -> torch.Tensor:
        return torch.randn([max(2, size // self.shrink) for size in sizes], device=self.device, dtype=self.dtype)

    def classes(self, count: int, of: int) -> torch.Tensor:
        rows, columns = max(2, count // self.shrink), max(2, of // self.shrink)
        return torch.arange(rows, device=self.device) * 7 % columns

    def module(self, module: nn.Module) -> nn.Module:
        return module.to(self.device, self.dtype)


@dataclass(frozen=True)
class Case:
    """One row of the table.

    `group` is "memory" where the bytes in and out, once, bound the time, "call" where the host does, else "step".
    """

    name: str
    group: str
    build: Build
    dtype: torch.dtype = torch.float32
    trains: bool = False
    mode: str | None = None


def _pointwise(make: Make):
    return lambda x: torch.tanh(2 * x + 1) * torch.sigmoid(x) + x, (make.randn(8192, 4096),)


def _gelu(make: Make):
    arguments = make.randn(8192, 4096), make.randn(4096), make.randn(8192, 4096)
    return lambda x, bias, residual: functional.gelu(x + bias) + residual, arguments


def _softmax(rows: int, columns: int) -> Build:
    return lambda make: (lambda x: torch.softmax(x, -1), (make.randn(rows, columns),))


def _layer_norm(rows: int, columns: int) -> Build:
    def build(make: Make):
        arguments = make.randn(rows, columns), make.randn(columns), make.randn(columns)
        return lambda x, weight, bias: functional.layer_norm(x, x.shape[1:], weight, bias), arguments

    return build


def _rms_norm(make: Make):
    def norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        return (wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * weight

    return norm, (make.randn(8192, 4096), make.randn(4096))


def _sum_of_columns(make: Make):
    return lambda x: (x * 2).sum(0), (make.randn(8192, 4096),)


def _sum_of_all(make: Make):
    return lambda x: x.sum(), (make.randn(8192, 4096),)


def _cross_entropy(make: Make):
    return functional.cross_entropy, (make.randn(4096, 16384), make.classes(4096, 16384))


def _transpose(make: Make):
    return lambda x, y: x.t() + y, (make.randn(4096, 4096), make.randn(4096, 4096))


def _concatenation(make: Make):
    return lambda x, y: torch.cat([x * 2, y + 1], 1), (make.randn(8192, 2048), make.randn(8192, 2048))


def _adamw(count: int, width: int) -> Build:
    def build(make: Make):
        parameters = [nn.Parameter(make.randn(width, width)) for _ in range(max(2, count // make.shrink))]
        for each in parameters:
            each.grad = torch.randn_like(each)
        return torch.optim.AdamW(parameters, capturable=make.device != "cpu").step, ()

    return build


def _mlp(make: Make):
    module = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256), nn.LayerNorm(256))
    return make.module(module), (torch.randn(64, 256, device=make.device, dtype=make.dtype),)


def _tiny(make: Make):
    return lambda x: x * 2 + 1, (torch.randn(4, device=make.device),)


def _tiny_write(make: Make):
    def write(x: torch.Tensor) -> torch.Tensor:
        x.mul_(0.5)
        return x + 1

    return write, (torch.randn(4, device=make.device),)


_MEMORY: dict[str, Build] = {
    "pointwise": _pointwise,
    "gelu": _gelu,
    "softmax": _softmax(8192, 4096),
    "layer-norm": _layer_norm(8192, 4096),
    "layer-norm-of-768": _layer_norm(32768, 768),
    "rms-norm": _rms_norm,
    "sum-of-columns": _sum_of_columns,
    "sum-of-all": _sum_of_all,
    "cross-entropy": _cross_entropy,
    "transpose": _transpose,
    "cat": _concatenation,
    "softmax-of-3001": _softmax(8192, 3001),
}
_TRAINED = ("pointwise", "gelu", "softmax", "layer-norm", "rms-norm", "cross-entropy")

CASES: tuple[Case, ...] = (
    Case("call", "call", _tiny),
    Case("call-graphs", "call", _tiny, mode="reduce-overhead"),
    Case("call-that-writes", "call", _tiny_write),
    Case("call-of-training", "call", _tiny, trains=True),
    Case("mlp-training", "step", _mlp, trains=True),
    Case("mlp-training-graphs", "step", _mlp, trains=True, mode="reduce-overhead"),
    Case("adamw-of-24", "step", _adamw(24, 1024)),
    *(Case(name, "memory", build) for name, build in _MEMORY.items()),
    *(Case(f"{name}-bf16", "memory", build, torch.bfloat16) for name, build in _MEMORY.items()),
    *(Case(f"{name}-training", "step", _MEMORY[name], trains=True) for name in _TRAINED),
)
