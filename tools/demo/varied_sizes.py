"""`python -m dovetail.tools.demo.varied_sizes`: the models train on batches of another size and length in each step."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import dovetail
from dovetail.tools.demo.lockstep import Lockstep
from dovetail.tools.demo.tasks import ALL_TASKS, Batch, Task

# 0 and 1 have programs of their own; the models take up to 64 tokens.
_LEAST_BATCH, _LEAST_LENGTH, _LENGTHS, _STRIDE = 2, 10, 51, 7
MOST_GRAPHS = 2
"""One of the first sizes, one of all: the second step makes a value of what changes."""


@dataclass(frozen=True)
class Outcome:
    """What training showed: compiled graphs, sizes that were fixed and graphs left to eager by reason, wrong values."""

    graphs: int
    reasons: Sequence[str]
    wrong: Sequence[str]

    @property
    def is_right(self) -> bool:
        """Whether at most `MOST_GRAPHS` graphs gave eager's losses, gradients and buffers for all sizes."""
        return not self.reasons and not self.wrong and self.graphs <= MOST_GRAPHS


def varied(task: Task) -> Task:
    """The same job on batches of another size in each step, and of another length where inputs have one."""

    def batch(step: int) -> Batch:
        length = {"length": _LEAST_LENGTH + step * _STRIDE % _LENGTHS} if task.has_length else {}
        return task.batch(step, batch=_LEAST_BATCH + step, **length)

    return replace(task, batch=batch)


def train(task: Task, count: int) -> Outcome:
    """Trains `task` on `count` sizes, each step compared with eager and float64; AdamW is not compiled."""
    dovetail.stats(reset=True)
    lockstep = Lockstep(varied(task), "dovetail")
    for copy in (lockstep.compiled, lockstep.eager):
        copy.update = copy.optimizer.step  # type: ignore[method-assign]
    record = lockstep.run(count)
    stats = dovetail.stats()
    return Outcome(stats.graphs, [*stats.specialised, *stats.eager], record.failures())


def main(arguments: list[str] | None = None) -> int:
    """Prints a row for each model; gives 1 where one was compiled more than twice, or is further off than eager."""
    parser = argparse.ArgumentParser(prog="python -m dovetail.tools.demo.varied_sizes", description=__doc__)
    names = {task.name: task for task in ALL_TASKS}
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(names)} (default: all)")
    parser.add_argument("--sizes", type=int, default=20, help="batch sizes, and as many lengths (%(default)s)")
    options = parser.parse_args(arguments)
    if unknown := set(options.models) - names.keys():
        parser.error(f"no model {', '.join(sorted(unknown))}, expected some of {', '.join(names)}")
    print("| model | sizes | compiled graphs | wrong values |\n|---|---|---|---|")
    all_right = True
    for name in options.models or names:
        outcome = train(names[name], options.sizes)
        all_right = all_right and outcome.is_right
        print(f"| {name} | {options.sizes} | {outcome.graphs} | {len(outcome.wrong)} |", flush=True)
        for line in (*outcome.reasons, *outcome.wrong):
            print(f"{name}: {line}", file=sys.stderr)
    return int(not all_right)


if __name__ == "__main__":
    sys.exit(main())
