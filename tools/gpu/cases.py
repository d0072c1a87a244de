"""What is measured on a GPU: computations of the size that fills one, and calls that hardly compute."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from dovetail.tools.demo import tasks


@dataclass(frozen=True)
class Work:
    """What is computed, of what, and the tensors that it writes and does not return."""

    compute: Callable
    arguments: tuple[torch.Tensor, ...] = ()
    written: tuple[torch.Tensor, ...] = ()


Build = Callable[["Make"], Work]


@dataclass(frozen=True)
class Make:
    """Makes tensors and modules of a case.

    Attributes:
        shrink: divides every size, for a smoke run, in which models are the demo's.
        is_wide: whether numbers of `dtype` are held in float64, for what others are compared with.
    """

    device: str
    dtype: torch.dtype
    shrink: int = 1
    is_wide: bool = False

    def randn(self, *sizes: int) -> torch.Tensor:
        made = torch.randn([max(2, size // self.shrink) for size in sizes], device=self.device, dtype=self.dtype)
        return made.double() if self.is_wide else made

    def classes(self, count: int, of: int) -> torch.Tensor:
        rows, columns = max(2, count // self.shrink), max(2, of // self.shrink)
        return torch.arange(rows, device=self.device) * 7 % columns

    def module(self, module: nn.Module) -> nn.Module:
        made = module.to(self.device, self.dtype)
        return made.double() if self.is_wide else made


@dataclass(frozen=True)
class Case:
    """One row of the table.

    `group` is "memory" where the bytes in and out, once, bound the time, "call" where the host does, "model" of a
    training step of a model, else "step".
    """

    name: str
    group: str
    build: Build
    dtype: torch.dtype = torch.float32
    trains: bool = False
    mode: str | None = None
    autocast: bool = False

    @property
    def is_timed_cold(self) -> bool:
        """Whether its first call is a figure: that of each model in one way, as each takes a process a compiler."""
        return self.group == "model" and self.mode is None and not self.autocast


def _gelu(make: Make) -> Work:
    arguments = make.randn(8192, 4096), make.randn(4096), make.randn(8192, 4096)
    return Work(lambda x, bias, residual: functional.gelu(x + bias) + residual, arguments)


def _softmax(rows: int, columns: int) -> Build:
    return lambda make: Work(lambda x: torch.softmax(x, -1), (make.randn(rows, columns),))


def _layer_norm(rows: int, columns: int) -> Build:
    def build(make: Make) -> Work:
        arguments = make.randn(rows, columns), make.randn(columns), make.randn(columns)
        return Work(lambda x, weight, bias: functional.layer_norm(x, x.shape[1:], weight, bias), arguments)

    return build


def _rms_norm(make: Make) -> Work:
    def norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        return (wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * weight

    return Work(norm, (make.randn(8192, 4096), make.randn(4096)))


def _adamw(*shapes: tuple[int, ...]) -> Build:
    def build(make: Make) -> Work:
        parameters = [nn.Parameter(make.randn(*sizes)) for sizes in shapes[: max(2, len(shapes) // make.shrink)]]
        for parameter in parameters:
            parameter.grad = make.randn(*parameter.shape) if make.shrink == 1 else torch.ones_like(parameter)
        optimizer = torch.optim.AdamW(parameters, capturable=make.device != "cpu")
        return Work(optimizer.step, written=tuple(parameters))

    return build


def _mlp(make: Make) -> Work:
    module = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256), nn.LayerNorm(256))
    return Work(make.module(module), (make.randn(64 * make.shrink, 256 * make.shrink),))


def _tiny(make: Make) -> Work:
    return Work(lambda x: x * 2 + 1, (make.randn(4),))


def _tiny_write(make: Make) -> Work:
    def write(x: torch.Tensor) -> torch.Tensor:
        x.mul_(0.5)
        return x + 1

    return Work(write, (make.randn(4),))


_SIZES = tasks.Sizes(width=768, layers=2, heads=12, length=512)
_BATCH = 8


def _language_model(model: Callable[[tasks.Sizes], nn.Module], words: int) -> Build:
    def build(make: Make) -> Work:
        sizes = replace(_SIZES, words=words) if make.shrink == 1 else tasks.SMALL
        inputs, targets = (torch.randint(sizes.words, (_BATCH, sizes.length), device=make.device) for _ in range(2))
        return Work(make.module(tasks.LossOf(model(sizes)).train()), (inputs, targets))

    return build


def _resnet(make: Make) -> Work:
    is_small = make.shrink > 1
    model = tasks.resnet(channels=3) if is_small else tasks.resnet((64, 128, 256, 512), channels=3)
    images = (2, 3, 16, 16) if is_small else (64, 3, 224, 224)
    given = replace(make, shrink=1).randn(*images), make.classes(images[0] * make.shrink, 10 * make.shrink)
    return Work(make.module(tasks.LossOf(model).train()), given)


_MEMORY: dict[str, Build] = {
    "pointwise": lambda make: Work(lambda x: torch.tanh(2 * x + 1) * torch.sigmoid(x) + x, (make.randn(8192, 4096),)),
    "gelu": _gelu,
    "softmax": _softmax(8192, 4096),
    "layer-norm": _layer_norm(8192, 4096),
    "layer-norm-of-768": _layer_norm(32768, 768),
    "rms-norm": _rms_norm,
    "sum-of-columns": lambda make: Work(lambda x: (x * 2).sum(0), (make.randn(8192, 4096),)),
    "sum-of-all": lambda make: Work(lambda x: x.sum(), (make.randn(8192, 4096),)),
    "cross-entropy": lambda make: Work(functional.cross_entropy, (make.randn(4096, 16384), make.classes(4096, 16384))),
    "transpose": lambda make: Work(lambda x, y: x.t() + y, (make.randn(4096, 4096), make.randn(4096, 4096))),
    "cat": lambda make: Work(
        lambda x, y: torch.cat([x * 2, y + 1], 1), (make.randn(8192, 2048), make.randn(8192, 2048))
    ),
    "softmax-of-3001": _softmax(8192, 3001),
}
_MODELS: dict[str, Build] = {
    "gpt2": _language_model(tasks.gpt2, 50257),
    "llama": _language_model(tasks.llama, 32000),
    "bert": _language_model(tasks.bert, 30522),
    "resnet": _resnet,
}
_WAYS: dict[str, dict[str, Any]] = {
    "": {},
    "-graphs": {"mode": "reduce-overhead"},
    "-autocast": {"autocast": True},
}
_TRAINED = ("pointwise", "gelu", "softmax", "layer-norm", "rms-norm", "cross-entropy")

CASES: tuple[Case, ...] = (
    Case("call", "call", _tiny),
    Case("call-graphs", "call", _tiny, mode="reduce-overhead"),
    Case("call-that-writes", "call", _tiny_write),
    Case("call-of-training", "call", _tiny, trains=True),
    Case("mlp-training", "step", _mlp, trains=True),
    Case("mlp-training-graphs", "step", _mlp, trains=True, mode="reduce-overhead"),
    Case("adamw-of-24", "step", _adamw(*[(1024, 1024)] * 24)),
    *(Case(name, "memory", build) for name, build in _MEMORY.items()),
    *(Case(f"{name}-bf16", "memory", build, torch.bfloat16) for name, build in _MEMORY.items()),
    *(Case(f"{name}-training", "step", _MEMORY[name], trains=True) for name in _TRAINED),
    Case("adamw-of-300", "step", _adamw(*[(768, 768), (768,)] * 150)),
    *(
        Case(f"{name}{kind}", "model", build, trains=True, **how)
        for kind, how in _WAYS.items()
        for name, build in _MODELS.items()
    ),
)
