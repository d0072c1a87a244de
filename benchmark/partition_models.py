"""The models whose partition is measured: the demo's four, and four of other shapes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from dovetail.frontend.capture import capture
from dovetail.frontend.dynamo.graph import lift_attributes
from dovetail.frontend.records import Capture
from dovetail.tools.demo.tasks import ALL_TASKS, Task


@dataclass(frozen=True)
class Model:
    """`build()` gives a module in training mode and the arguments of a call of it, which returns a scalar loss."""

    name: str
    build: Callable[[], tuple[nn.Module, tuple[torch.Tensor, ...]]]


class Perceptron(nn.Module):
    """Three linear layers with batch norm, GELU and dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(nn.Linear(64, 256), nn.BatchNorm1d(256), nn.GELU(), nn.Dropout(0.2)),
            *(nn.Linear(256, 256), nn.BatchNorm1d(256), nn.GELU(), nn.Dropout(0.2)),
            nn.Linear(256, 10),
        )

    def forward(self, x: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(self.layers(x), classes)


class VisionTransformer(nn.Module):
    """Patches of an image through encoder layers, whose attention is written out, with dropout."""

    def __init__(self, width: int = 64, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.patches = nn.Conv2d(3, width, 8, stride=8)
        self.places = nn.Parameter(torch.randn(16, width) / 8)
        self.layers = nn.ModuleList(nn.ModuleDict(self._layer(width)) for _ in range(layers))
        self.head = nn.Linear(width, 10)

    @staticmethod
    def _layer(width: int) -> dict[str, nn.Module]:
        grown = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))
        norms = {"before": nn.LayerNorm(width), "between": nn.LayerNorm(width)}
        return {**norms, "projections": nn.Linear(width, 3 * width), "joined": nn.Linear(width, width), "grown": grown}

    def _attention(self, layer: nn.ModuleDict, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = layer["projections"](x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind()
        weights = (query @ key.transpose(-1, -2) / (width // self.heads) ** 0.5).softmax(-1)
        mixed = nn.functional.dropout(weights, 0.1) @ value
        return layer["joined"](mixed.transpose(1, 2).reshape(batch, length, width))

    def forward(self, images: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
        x = self.patches(images).flatten(2).transpose(1, 2) + self.places
        for layer in self.layers:
            x = x + self._attention(layer, layer["before"](x))
            x = x + layer["grown"](layer["between"](x))
        return nn.functional.cross_entropy(self.head(x.mean(1)), classes)


class Unet(nn.Module):
    """An autoencoder of convolutions with group norm and SiLU, its two scales joined by `cat`."""

    def __init__(self) -> None:
        super().__init__()
        self.outer = self._block(3, 16)
        self.inner = self._block(16, 32)
        self.joined = self._block(48, 16)
        self.last = nn.Conv2d(16, 3, 1)

    @staticmethod
    def _block(taken: int, made: int) -> nn.Sequential:
        return nn.Sequential(nn.Conv2d(taken, made, 3, padding=1), nn.GroupNorm(4, made), nn.SiLU())

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        outer = self.outer(images)
        inner = self.inner(nn.functional.max_pool2d(outer, 2))
        grown = nn.functional.interpolate(inner, scale_factor=2, mode="nearest")
        return nn.functional.mse_loss(self.last(self.joined(torch.cat((outer, grown), 1))), images)


class Lstm(nn.Module):
    """An LSTM cell written out, over eight steps, in bfloat16 but for its loss."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.taken = nn.Linear(width, 4 * width)
        self.carried = nn.Linear(width, 4 * width, bias=False)
        self.head = nn.Linear(width, 10)

    def forward(self, steps: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
        hidden = cell = torch.zeros_like(steps[0])
        for step in steps:
            kept, fresh, shown, change = (self.taken(step) + self.carried(hidden)).chunk(4, -1)
            cell = kept.sigmoid() * cell + fresh.sigmoid() * change.tanh()
            hidden = shown.sigmoid() * cell.tanh()
        return nn.functional.cross_entropy(self.head(hidden).float(), classes)


def _demo(task: Task) -> Model:
    return Model(task.title.partition(" on ")[0], lambda: (task.build(), task.batch(0)))


def _classes(count: int) -> torch.Tensor:
    return torch.arange(count) % 10


MODELS = (
    *(_demo(task) for task in ALL_TASKS),
    Model("perceptron", lambda: (Perceptron(), (torch.randn(128, 64), _classes(128)))),
    Model("vision transformer", lambda: (VisionTransformer(), (torch.randn(16, 3, 32, 32), _classes(16)))),
    Model("U-Net", lambda: (Unet(), (torch.randn(4, 3, 32, 32),))),
    Model("LSTM", lambda: (Lstm().bfloat16(), (torch.randn(8, 32, 64, dtype=torch.bfloat16), _classes(32)))),
)


def joint_graph(model: Model, dtype: torch.dtype | None = None) -> Capture:
    """The joint graph of a model's forward and backward; with `dtype`, of the model in that floating-point type."""
    torch.manual_seed(0)
    module, arguments = model.build()
    if dtype is not None:
        module = module.to(dtype)
        arguments = tuple(each.to(dtype) if each.is_floating_point() else each for each in arguments)
    found: list[Capture] = []

    def backend(gm: torch.fx.GraphModule, inputs: Sequence) -> torch.nn.Module:
        lifted_gm, lifted = lift_attributes(gm)
        found.append(capture(lifted_gm, [*lifted, *inputs]))
        return gm

    torch._dynamo.reset()
    torch.compile(module, backend=backend, fullgraph=True)(*arguments)
    return found[0]
