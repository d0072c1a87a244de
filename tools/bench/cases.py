"""What is measured: a registry of steps of work, each of which can be prepared for any compiler."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any

import torch
from torch import nn

from dovetail.tools.bench import kernels, networks
from dovetail.tools.bench.figures import DYNAMIC, TRACING
from dovetail.tools.bench.kernels import Work
from dovetail.tools.demo.tasks import ALL_TASKS, Task
from dovetail.tools.demo.trainer import Trainer

Step = Callable[[], list[torch.Tensor]]
"""Runs the work once; gives what must agree between the compilers after the first call."""
Build = Callable[[bool], Work]
"""Makes a case's work; True asks for the tiny size of a smoke run."""


@dataclass(frozen=True)
class Case:
    """`prepare(backend, smoke)` gives the step compiled by a `torch.compile` backend, or the eager one for None.

    `group` is what the goals call it: kernel, optimizer, network, model or call. `DYNAMIC` is one of the backends where
    the case `takes_sizes`: an optimizer's never change, and models are compiled by a trainer of their own. `TRACING` is
    one for calls.
    """

    name: str
    group: str
    prepare: Callable[[str | None, bool], Step]

    @property
    def takes_sizes(self) -> bool:
        """Whether the case is measured with open sizes, too."""
        return self.group in ("kernel", "network", "call")


def prepare_inference(build: Build, backend: str | None, smoke: bool) -> Step:
    """Forward only, without grad, modules in eval mode."""
    compute, tensors = _seeded(build, smoke)
    if isinstance(compute, nn.Module):
        compute.eval()
    compiled = _compiled(compute, backend, tensors)

    def step() -> list[torch.Tensor]:
        with torch.no_grad():
            return [compiled(*tensors)]

    return step


def prepare_training(build: Build, backend: str | None, smoke: bool) -> Step:
    """Forward and backward from a fixed tangent; gradients of the inputs and of all parameters, made anew each time."""
    compute, tensors = _seeded(build, smoke)
    leaves = [tensor.requires_grad_() for tensor in tensors if tensor.is_floating_point()]
    leaves += compute.parameters() if isinstance(compute, nn.Module) else ()
    tangent = torch.randn_like(compute(*tensors))  # ones would make the gradients of softmax and layer norm vanish
    compiled = _compiled(compute, backend, tensors)

    def step() -> list[torch.Tensor]:
        for leaf in leaves:
            leaf.grad = None
        result = compiled(*tensors)
        result.backward(tangent)
        return [result.detach(), *(leaf.grad for leaf in leaves if leaf.grad is not None)]

    return step


def prepare_task(task: Task, backend: str | None, smoke: bool) -> Step:
    """A whole training step of a demo model, AdamW compiled too. The demo's sizes are small enough for a smoke run."""
    trainer = Trainer(task, backend, backend)
    batch = task.batch(0)
    return lambda: [trainer.train(batch)]


def prepare_adamw(shapes: tuple[tuple[int, ...], ...], backend: str | None, smoke: bool) -> Step:
    """AdamW's step alone, with fixed gradients."""
    torch.manual_seed(0)
    parameters = [nn.Parameter(torch.randn(shape)) for shape in (shapes[:2] if smoke else shapes)]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    update = _compiled(torch.optim.AdamW(parameters).step, backend)

    def step() -> list[torch.Tensor]:
        update()
        return [parameter.detach() for parameter in parameters]

    return step


def tiny(smoke: bool) -> Work:
    """So little work that the time of a call is what the call itself costs."""
    return lambda x: x + 1, (torch.randn(4),)


def tiny_write(smoke: bool) -> Work:
    """The same, and the argument is written, by an amount that leaves room for as many calls as are measured."""

    def write(x: torch.Tensor) -> torch.Tensor:
        x.mul_(0.5)
        return x + 1

    return write, (torch.randn(4),)


def _seeded(build: Build, smoke: bool) -> Work:
    torch.manual_seed(0)
    return build(smoke)


def _compiled(
    compute: Callable[..., Any], backend: str | None, tensors: Sequence[torch.Tensor] = ()
) -> Callable[..., Any]:
    """What is compiled for open sizes is so for those of `tensors`.

    They are marked, since a call with any `dynamic=` changes Dynamo's settings, which takes 3 µs whatever the backend.
    """
    if backend is None:
        return compute
    if not tensors:
        return torch.compile(compute, backend=backend)
    if backend == DYNAMIC:
        for tensor in tensors:
            torch._dynamo.maybe_mark_dynamic(tensor, [dim for dim, size in enumerate(tensor.shape) if size > 1])
    return torch.compile(_of_its_own(compute), backend=_BACKENDS.get(backend, backend))


def _answer_again(graph: torch.fx.GraphModule, example_inputs: Sequence[object]) -> Callable[..., Any]:
    """A backend that computes in the first call alone, and gives that call's results ever after."""
    answers: list[Any] = []

    def call(*arguments: Any) -> Any:
        if not answers:
            answers.append(graph(*arguments))
        return answers[0]

    return call


_BACKENDS: dict[str, Any] = {DYNAMIC: "dovetail", TRACING: _answer_again}


def _of_its_own(compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute` with a code object of its own.

    Dynamo keeps programs by code object and backend, and calls the newest that takes the arguments: the one of open
    sizes would serve the case of known ones, too.
    """

    def call(*tensors: torch.Tensor) -> Any:
        return compute(*tensors)

    own = compute if isinstance(compute, FunctionType) else call
    return FunctionType(own.__code__.replace(), own.__globals__, None, own.__defaults__, own.__closure__)


_KERNELS: dict[str, Build] = {
    "pointwise": kernels.pointwise,
    "gelu": kernels.gelu,
    "where": kernels.where,
    "softmax": kernels.softmax,
    "softmax-of-1000": kernels.softmax_of_1000,
    "layer-norm": kernels.layer_norm,
    "rms-norm": kernels.rms_norm,
    "sum-of-columns": kernels.sum_of_columns,
    "sum-of-all": kernels.sum_of_all,
    "cross-entropy": kernels.cross_entropy,
    "transpose": kernels.transpose,
    "cat": kernels.concatenation,
}
_NETWORKS: dict[str, Build] = {
    "mlp": networks.mlp,
    "transformer-block": networks.transformer_block,
    "convolution-net": networks.convolution_net,
}
# A small model's parameters: matrices and vectors in turns; and one with many small ones.
_TENSORS_24 = ((256, 256), (256,)) * 12
_TENSORS_300 = ((64, 64), (64,)) * 150

CASES: dict[str, Case] = {
    case.name: case
    for case in (
        *(Case(name, "kernel", partial(prepare_inference, build)) for name, build in _KERNELS.items()),
        *(Case(f"{name}-training", "kernel", partial(prepare_training, build)) for name, build in _KERNELS.items()),
        Case("adamw-of-24", "optimizer", partial(prepare_adamw, _TENSORS_24)),
        Case("adamw-of-300", "optimizer", partial(prepare_adamw, _TENSORS_300)),
        *(Case(f"{name}-inference", "network", partial(prepare_inference, build)) for name, build in _NETWORKS.items()),
        *(Case(f"{name}-training", "network", partial(prepare_training, build)) for name, build in _NETWORKS.items()),
        *(Case(f"{task.name}-training-step", "model", partial(prepare_task, task)) for task in ALL_TASKS),
        Case("call", "call", partial(prepare_inference, tiny)),
        Case("call-that-writes", "call", partial(prepare_inference, tiny_write)),
    )
}
