"""What each pass costs on one module."""

import gc
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch_mlir import ir

from dovetail.dialects.context import make_context, parse_module
from dovetail.passes.pipeline import compile_pipeline
from dovetail.passes.running.runner import Runner


@dataclass
class Run:
    """One run of the pipeline `compile`, as the compiler makes it; CPU seconds of this process.

    Attributes:
        ops: of the module, by pass as it stands in a pipeline, before the pass first runs.
        seconds: by pass, with the verification after it; a pass that runs twice is added up.
        total: of all, and of what the runner keeps for the case that a pass fails.
    """

    ops: dict[str, int] = field(default_factory=dict)
    seconds: Counter[str] = field(default_factory=Counter)
    total: float = 0.0


@dataclass(frozen=True)
class Figures:
    """The least of several runs at one depth, since what disturbs a run only adds to it; the fields are `Run`'s."""

    layers: int
    ops: dict[str, int]
    seconds: dict[str, float]
    total: float

    @property
    def joint_ops(self) -> int:
        """The operations of the joint graph, constants included."""
        return next(iter(self.ops.values()))


def figures(texts: Mapping[int, str], repeats: int) -> list[Figures]:
    """Runs the passes `repeats` times on each of `texts`, by layers, each time in a context of its own.

    The depths take turns, since other work on the machine comes and goes. What lived before, most of it PyTorch's and
    the captures', is no longer looked through for garbage: how often that happens is a matter of luck.
    """
    gc.collect()
    gc.freeze()
    try:
        rounds = [{layers: _run(text) for layers, text in texts.items()} for _ in range(repeats)]
    finally:
        gc.unfreeze()
    return [_least(layers, [each[layers] for each in rounds]) for layers in texts]


def _least(layers: int, runs: Sequence[Run]) -> Figures:
    seconds = {name: min(run.seconds[name] for run in runs) for name in runs[0].ops}
    return Figures(layers, runs[0].ops, seconds, min(run.total for run in runs))


def _run(text: str) -> Run:
    module, run = parse_module(text, make_context()), Run()
    counting = 0.0

    def before(each, module: ir.Module) -> None:
        nonlocal counting
        started = time.process_time()
        run.ops.setdefault(str(each), _op_count(module))
        counting += time.process_time() - started
        run.seconds[str(each)] -= time.process_time()

    def after(each, module: ir.Module) -> None:
        run.seconds[str(each)] += time.process_time()

    started = time.process_time()
    Runner(before=before, after=after).run(compile_pipeline(), module)
    run.total = time.process_time() - started - counting
    return run


def _op_count(module: ir.Module) -> int:
    """The operations in the module's functions."""
    blocks = (block for function in module.body.operations for block in function.operation.regions[0].blocks)
    return sum(1 for block in blocks for _ in block.operations)
