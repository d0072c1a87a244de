"""A compiled training run, every step of which is compared with eager and with a float64 reference.

How steps are compared
----------------------
Training trajectories diverge from rounding alone, so later values of two runs can't be compared. Instead the compiled
copy trains freely and untouched, and before each step eager and the float64 reference are set to *its* parameters,
buffers and moments. Each step is then compared as one map from one common state; if every step is right, so is the
run. The direction of the copy matters: values written into the compiled copy could repair a stale one, whereas a
compiled program that works on stale values differs at once from eager on the values which the user sees.

A step has two halves. Loss, gradients and buffers come first. AdamW then divides a gradient by its own magnitude,
which near zero turns a rounding difference into one of the size of the learning rate. So the compiled copy's
gradients, just found right, are copied to the other two, and the parameters and moments after the step are compared
*from the same gradients*. AdamW computes its bias corrections with Python floats in eager, but with the float32 tensor
`step` wherever Dynamo traces it, so that `1 - 0.999 ** step` is off by some 1e-5 of itself before any backend sees it.
Hence "eager's own error" of this half is that of the traced step run op by op by ATen (`backend="eager"`), still
measured to the untraced float64 step.

Eager's error in one run is one sample of its rounding noise, and a small one by luck now and then; and at the kinks
of ReLU and max-pooling the gradient jumps, so that two correct float32 programs may differ by far more than rounding.
A value of the first half that is out of tolerance against eager's one run is therefore judged again, against the
largest error of several eager runs in which every operation's result is moved by one unit in the last place
(`rounding.py`). The report counts these values.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

import torch

from dovetail.tools.demo.compare import Verdict, judge
from dovetail.tools.demo.rounding import RandomLastPlaces
from dovetail.tools.demo.tasks import Batch, Task
from dovetail.tools.demo.trainer import Backend, Trainer, Values

NOISE_RUNS = 8
# The `torch.compile` backend that runs what Dynamo traced, op by op, unchanged.
AS_TRACED = "eager"

# One half of a step: tensors by kind and name.
Half = dict[str, Values]


@dataclass
class Record:
    """What a lockstep run found. `seconds` is the compiled copy's wall time of each step, compilation included."""

    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    replaced: set[str] = field(default_factory=set)

    def failures(self) -> list[str]:
        """One line for everything that is wrong; empty when the run is right."""
        found = [str(verdict) for verdict in self.verdicts if not verdict.ok]
        found += [f"parameter {name}: its storage was replaced, not written in place" for name in sorted(self.replaced)]
        return found


class Lockstep:
    """Trains `task` compiled by `backend`, with eager and the float64 reference following step by step."""

    def __init__(self, task: Task, backend: Backend) -> None:
        self.task = task
        self.compiled = Trainer(task, backend, backend)
        self.eager = Trainer(task, update_backend=AS_TRACED)
        self.reference = Trainer(task, dtype=torch.float64)

    def run(self, steps: int, on_step: Callable[[int, float], None] = lambda step, loss: None) -> Record:
        """Runs `steps` steps; `on_step` is told each step's number, counted from 0, and its loss."""
        record = Record()
        for step in range(steps):
            self._step(step, self.task.batch(step), record)
            on_step(step, record.losses[-1])
        return record

    def _step(self, step: int, batch: Batch, record: Record) -> None:
        for follower in (self.eager, self.reference):
            _copy(self.compiled.parameters(), follower.parameters())
            _copy(self.compiled.buffers(), follower.buffers())
            _copy(self.compiled.moments(), follower.moments())
        storages = {name: value.data_ptr() for name, value in self.compiled.parameters().items()}

        start = perf_counter()
        loss = self.compiled.backward(batch)
        seconds = perf_counter() - start
        record.verdicts += self._judge_first_half(step, batch, _first_half(self.compiled, loss))

        for follower in (self.eager, self.reference):
            _copy(self.compiled.gradients(), follower.gradients())
        start = perf_counter()
        self.compiled.update()
        record.seconds.append(seconds + perf_counter() - start)
        record.losses.append(loss.item())
        self.eager.update()
        self.reference.update()
        record.verdicts += _judge(
            step, _second_half(self.compiled), [_second_half(self.eager)], _second_half(self.reference)
        )
        record.replaced |= {
            name for name, value in self.compiled.parameters().items() if value.data_ptr() != storages[name]
        }

    def _judge_first_half(self, step: int, batch: Batch, values: Half) -> list[Verdict]:
        """Compares loss, gradients and buffers; where eager alone isn't enough, its rounding noise."""
        buffers = _clone(self.eager.buffers())
        reference = _first_half(self.reference, self.reference.backward(batch))
        eager = [_first_half(self.eager, self.eager.backward(batch))]
        verdicts = _judge(step, values, eager, reference)
        if all(verdict.ok for verdict in verdicts):
            return verdicts
        for seed in range(NOISE_RUNS):
            _copy(buffers, self.eager.buffers())
            with RandomLastPlaces(seed):
                eager.append(_first_half(self.eager, self.eager.backward(batch)))
        widened = _judge(step, values, eager, reference)
        return [first if first.ok else second for first, second in zip(verdicts, widened, strict=True)]


def _judge(step: int, values: Half, eager: list[Half], reference: Half) -> list[Verdict]:
    return [
        verdict
        for kind in values
        for verdict in judge(step, kind, values[kind], [run[kind] for run in eager], reference[kind])
    ]


def _first_half(trainer: Trainer, loss: torch.Tensor) -> Half:
    return {"loss": {"": loss}, "gradient": trainer.gradients(), "buffer": _clone(trainer.buffers())}


def _second_half(trainer: Trainer) -> Half:
    return {"parameter": trainer.parameters(), "moment": trainer.moments()}


def _clone(values: Values) -> Values:
    return {name: value.clone() for name, value in values.items()}


def _copy(source: Values, target: Values) -> None:
    for name, value in source.items():
        if name in target:  # a moment or gradient that only one side has is found by the comparison
            target[name].copy_(value)
