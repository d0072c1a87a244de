"""Hugging Face models train through Dovetail as exactly as in eager, and the comparison that says so can say no."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

import dovetail
from dovetail.tools.demo.__main__ import main
from dovetail.tools.demo.experiment import REGION_SHARE, Coverage
from dovetail.tools.demo.lockstep import Lockstep, Record
from dovetail.tools.demo.tasks import ALL_TASKS, RESNET, Sizes, Task
from dovetail.tools.demo.trainer import Trainer

STEPS = 3
# Of one layer, or stage, since the same regions compute each.
SHALLOW = [
    replace(task, model=partial(task.model, Sizes(layers=1) if task.has_length else (16,))) for task in ALL_TASKS
]

GraphCall = Callable[..., tuple[torch.Tensor, ...]]


class Float32Results(TorchDispatchMode):
    """Notes the operations that give a float32 tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        results = func(*args, **(kwargs or {}))
        if any(torch.is_tensor(leaf) and leaf.dtype is torch.float32 for leaf in pytree.tree_leaves(results)):
            self.operations.add(str(func))
        return results


def wrong_kinds(record: Record) -> set[str]:
    return {verdict.kind for verdict in record.verdicts if not verdict.ok}


@pytest.mark.parametrize("task", SHALLOW, ids=lambda task: task.name)
def test_trains_as_exactly_as_eager(task: Task) -> None:
    """A wrong value anywhere in three training steps: losses, gradients, buffers, parameters, AdamW's moments.

    Also the failure that values can't show: eager doing the work because the backend gave up. AdamW is not compiled,
    since its graph is most of the work and knows nothing of the model: that is test_optimizers.py, and `make demo`.
    """
    dovetail.stats(reset=True)
    lockstep = Lockstep(task, "dovetail")
    for copy in (lockstep.compiled, lockstep.eager):
        copy.update = copy.optimizer.step  # type: ignore[method-assign]
    record = lockstep.run(STEPS)
    assert record.failures() == []
    assert Coverage.of(dovetail.stats()).ops >= REGION_SHARE


@pytest.mark.parametrize("task", ALL_TASKS, ids=lambda task: task.name)
def test_reference_stays_in_float64(task: Task) -> None:
    """A model that casts to float32 inside (Llama does) would make the reference as inexact as what it judges."""
    trainer, batch = Trainer(task, dtype=torch.float64), task.batch(0)
    with Float32Results() as seen:
        trainer.backward(batch)
    assert seen.operations == set()


def test_a_small_error_is_found() -> None:
    """A comparison so loose that 1e-5 of a loss, and so of its gradients, passes."""

    def slightly_off(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> GraphCall:
        return lambda *arguments: tuple(
            result * (1 + 1e-5) if result.is_floating_point() else result for result in graph(*arguments)
        )

    lockstep = Lockstep(SHALLOW[0], slightly_off)
    lockstep.compiled.update = lockstep.compiled.optimizer.step  # type: ignore[method-assign]
    assert wrong_kinds(lockstep.run(1)) == {"loss", "gradient"}


def test_a_dropped_mutation_is_found() -> None:
    """Running statistics that are computed and not written back, or an update that never happens."""

    def forgetful(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> GraphCall:
        return lambda *arguments: graph(
            *(value if not torch.is_tensor(value) or value.requires_grad else value.clone() for value in arguments)
        )

    lockstep = Lockstep(RESNET, forgetful)
    lockstep.compiled.update = lambda: None  # type: ignore[method-assign]
    assert wrong_kinds(lockstep.run(1)) == {"buffer", "parameter", "moment"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--steps", "0"], "--steps must be 1 or more, got 0"),
        (["--steps", "many"], "invalid int value: 'many'"),
        (["--out", __file__], "--out must name a folder that can be written"),
    ],
)
def test_demo_names_a_bad_option(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A traceback, or minutes of training, where one line would do."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
