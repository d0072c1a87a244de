"""One copy of a task in training: a module, its AdamW and, where a backend is named, both compiled."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch

from dovetail.tools.demo.float64 import KeepFloat64
from dovetail.tools.demo.tasks import Batch, Task

# AdamW's state per parameter.
MOMENTS = ("exp_avg", "exp_avg_sq", "step")

Values = dict[str, torch.Tensor]
# As `torch.compile` takes it: a registered name or a callable.
Backend = str | Callable[..., Any]


class Trainer:
    """Trains one copy of `task` in `dtype` (float32 or float64); a backend of None is eager.

    The forward must compile whole (`fullgraph`): a graph break would leave eager to do the work under our name.
    """

    def __init__(
        self,
        task: Task,
        model_backend: Backend | None = None,
        update_backend: Backend | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.dtype = dtype
        self.module = task.build().to(dtype)
        self.optimizer = torch.optim.AdamW(self.module.parameters(), lr=task.learning_rate)
        self._loss: Callable[..., Any] = self.module
        self._update: Callable[[], Any] = self.optimizer.step
        if model_backend is not None:
            self._loss = torch.compile(self.module, backend=model_backend, fullgraph=True)
        if update_backend is not None:
            self._update = torch.compile(self.optimizer.step, backend=update_backend)

    def backward(self, batch: Batch) -> torch.Tensor:
        """Forward and backward on (inputs, targets); leaves the gradients in the parameters, gives the loss."""
        self.optimizer.zero_grad(set_to_none=True)
        inputs, targets = batch
        if inputs.is_floating_point():
            inputs = inputs.to(self.dtype)
        with KeepFloat64() if self.dtype is torch.float64 else nullcontext():
            loss = self._loss(inputs, targets)
        loss.backward()
        return loss.detach()

    def update(self) -> None:
        """AdamW's step from the gradients that `backward` left."""
        self._update()

    def train(self, batch: Batch) -> torch.Tensor:
        """One whole training step; gives the loss before it."""
        loss = self.backward(batch)
        self.update()
        return loss

    def parameters(self) -> Values:
        return {name: parameter.detach() for name, parameter in self.module.named_parameters()}

    def buffers(self) -> Values:
        return dict(self.module.named_buffers())

    def gradients(self) -> Values:
        named = self.module.named_parameters()
        return {name: parameter.grad for name, parameter in named if parameter.grad is not None}

    def moments(self) -> Values:
        """AdamW's state as `<parameter>.<moment>`; empty before the first update."""
        state = self.optimizer.state
        return {
            f"{name}.{moment}": state[parameter][moment]
            for name, parameter in self.module.named_parameters()
            if parameter in state
            for moment in MOMENTS
        }
