"""One task from compilation to verdict: lockstep comparison, coverage by IREE, times beside eager and inductor."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import dovetail
from dovetail.tools.demo.lockstep import Lockstep, Record
from dovetail.tools.demo.tasks import Task
from dovetail.tools.demo.timing import cold_caches, interleaved_medians, seconds
from dovetail.tools.demo.trainer import Backend, Trainer

TIMING_ROUNDS = 15
# The least share of the ops that are neither views nor library kernels which must run in IREE regions.
REGION_SHARE = 0.9
# AdamW makes its state in the first step, so a second compilation may come in the second.
COMPILING_STEPS = 2

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Coverage:
    """Where the compiled ops run, as shares in [0, 1].

    `ops`: IREE's share of the ops that are neither views nor library kernels. `flops`: IREE's share of all FLOPs, so
    that a deliberate library kernel counts against it.
    """

    ops: float
    flops: float

    @classmethod
    def of(cls, stats: dovetail.Stats) -> "Coverage":
        return cls(
            ops=_share(stats.ops["region"], stats.ops["fallback"]),
            flops=_share(stats.flops["region"], stats.flops["library"] + stats.flops["fallback"]),
        )


@dataclass(frozen=True)
class Outcome:
    """What one task showed. Seconds throughout; `compile_seconds` and `step_seconds` by name of the compiler.

    `eager_losses` are those of a run of eager's own, never synchronised: for the eye, not for the verdict.
    """

    task: Task
    record: Record
    coverage: Coverage
    eager_losses: list[float]
    compile_seconds: dict[str, float]
    step_seconds: dict[str, float]

    def failures(self) -> list[str]:
        found = [f"{self.task.name}: {failure}" for failure in self.record.failures()]
        if self.coverage.ops < REGION_SHARE:
            found.append(
                f"{self.task.name}: {self.coverage.ops:.1%} of the ops that are neither views nor library kernels ran "
                f"in IREE regions, expected at least {REGION_SHARE:.0%}"
            )
        return found


def run(task: Task, steps: int, progress: Progress, backend: Backend = "dovetail") -> Outcome:
    """Trains and times `task`; `progress` is told in words about every step made (see `progress_count`)."""
    with cold_caches():
        dovetail.stats(reset=True)
        progress("compiling forward, backward and AdamW")
        lockstep = Lockstep(task, backend)
        record = lockstep.run(steps, lambda step, loss: progress(f"step {step + 1}/{steps}, loss {loss:.3f}"))
        coverage = Coverage.of(dovetail.stats())

        progress("training in eager")
        eager = Trainer(task)
        eager_losses = [eager.train(task.batch(step)).item() for step in range(steps)]

        progress("compiling with inductor")
        inductor = Trainer(task, "inductor", "inductor")
        first_inductor = [seconds(partial(inductor.train, task.batch(step))) for step in range(COMPILING_STEPS)]

        progress("timing")
        batch = task.batch(steps)
        trainers = {"eager": eager, "inductor": inductor, "dovetail": lockstep.compiled}
        calls = {name: partial(trainer.train, batch) for name, trainer in trainers.items()}
        step_seconds = interleaved_medians(calls, TIMING_ROUNDS)

    first = {"inductor": first_inductor, "dovetail": record.seconds[:COMPILING_STEPS]}
    compile_seconds = {name: sum(times) - len(times) * step_seconds[name] for name, times in first.items()}
    return Outcome(task, record, coverage, eager_losses, compile_seconds, step_seconds)


def progress_count(steps: int) -> int:
    """How many times `run` calls `progress`."""
    return steps + 4


def _share(part: int, rest: int) -> float:
    return part / (part + rest) if part + rest else 0.0
