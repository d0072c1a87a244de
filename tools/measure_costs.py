"""`python -m dovetail.tools.measure_costs`: measures this machine's constants for `passes/costs/cost_model.py`."""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import torch

from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.python.memory import allocate
from dovetail.backends.target import target_for_device
from dovetail.dialects.attributes import DRIVER, LEVEL, ROLE
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import Role
from dovetail.loading import Regions, launchers, write_plans
from dovetail.options import Options
from dovetail.passes.costs.cost_model import CostModel

_SMALL, _LARGE, _MANY = 16, 1 << 22, 17
_NAME = "measured"
_DEPTHS = range(4, 13)
_COUNTS = (64, 128, 256, 512, 1024)


_DESCRIPTION = """\
Measures what a region and a library call cost on one core of this machine, and prints it as a CostModel, which goes
into COSTS in passes/costs/cost_model.py. Takes about a minute on an idle machine."""


def main(arguments: list[str] | None = None) -> int:
    """Prints the measured `CostModel`."""
    argparse.ArgumentParser(prog="measure_costs", description=_DESCRIPTION).parse_args(arguments)
    torch.set_num_threads(1)
    with torch.no_grad():
        print(measured())
    return 0


def measured() -> CostModel:
    """The costs on this machine, of one core."""
    launch = _time(_region_call(1, _SMALL))
    many = _time(_region_call(_MANY, _SMALL))
    few, large = torch.ones(_SMALL), torch.ones(_LARGE)
    library_call = _time(lambda: torch.ops.aten.mul.Tensor(few, few))
    streamed = _time(lambda: torch.ops.aten.mul.Tensor(large, large), repeats=20)
    return CostModel(
        launch=round(launch, 1),
        argument=round((many - launch) / (2 * (_MANY - 1)), 2),
        library_call=round(library_call, 1),
        byte=float(f"{streamed / (3 * 4 * _LARGE):.1g}"),
        # One more reduction costs half as much again; twice as many results clearly more than twice as much.
        reduction_depth=_last_cheap(_DEPTHS, _reductions_seconds, 1.5),
        results=_last_cheap(_COUNTS, _results_seconds, 2.5),
    )


def _time(call: Callable[[], object], repeats: int = 2000) -> float:
    """Microseconds of CPU time a call, the median of five rounds."""
    rounds = []
    for _ in range(5):
        started = time.process_time()
        for _ in range(repeats):
            call()
        rounds.append((time.process_time() - started) / repeats * 1e6)
    return statistics.median(rounds)


def _region_call(count: int, numel: int) -> Callable[[], object]:
    """A region with `count` inputs and as many outputs, called as the emitted program does, with new memory."""
    tensor, memory = f"!torch.vtensor<[{numel}],f32>", f"!torch.tensor<[{numel}],f32>"
    inputs = [f"%a{index}: {tensor}" for index in range(count)]
    outputs = [f"%o{index}: {memory}" for index in range(count)]
    ops = [
        f"%r{index} = torch.aten.mul.Tensor %a{index}, %a{index} : {tensor}, {tensor} -> {tensor}\n"
        f"torch.overwrite.tensor.contents %r{index} overwrites %o{index} : {tensor}, {memory}"
        for index in range(count)
    ]
    region = _compile(inputs, outputs, ops)
    given = [torch.ones(numel) for _ in range(count)]

    def call() -> None:
        into = [allocate((numel,), (1,), torch.float32) for _ in range(count)]
        region(*given, *into)

    return call


def _compile(inputs: list[str], outputs: list[str], ops: list[str]) -> Callable[..., object]:
    """What launches a region of `ops` on the calling thread, by its plan."""
    signature = f"func.func private @{_NAME}({', '.join([*inputs, *outputs])})"
    says = f'attributes {{{DRIVER} = "local-sync", {ROLE} = "{Role.REGION.value}"}}'
    text = "\n".join([f"{signature} {says} {{", *ops, "return", "}"])
    module = parse_module(f'module attributes {{{LEVEL} = "regions"}} {{\n{text}\n}}', make_context())
    with Regions(Options(timeout=600), target_for_device("cpu"), None) as regions:
        ready = regions.of(module)
    planned = {name: each for name, each in ready.items() if isinstance(each, LaunchPlan)}
    if not planned:
        raise RuntimeError(f"a region to measure has no plan: {ready}")
    write_plans(module, planned)
    return launchers(module, planned)[_NAME]


def _last_cheap(steps: Sequence[int], seconds: Callable[[int], float], factor: float) -> int:
    """The first of `steps` after which the next one takes more than `factor` times as long to compile, else the last.

    `seconds` measures a step.
    """
    taken = seconds(steps[0])
    for step, more in pairwise(steps):
        before, taken = taken, seconds(more)
        if taken > factor * before:
            return step
    return steps[-1]


def _reductions_seconds(depth: int) -> float:
    """How long `depth` reductions of one another take to compile, in seconds of CPU time."""
    tensor, row, memory = (f"!torch.{each},f32>" for each in ("vtensor<[64,64]", "vtensor<[64,1]", "tensor<[64,64]"))
    ops = [
        "%dim = torch.constant.int 1\n%true = torch.constant.bool true\n%none = torch.constant.none",
        "%dims = torch.prim.ListConstruct %dim : (!torch.int) -> !torch.list<int>",
    ]
    for index in range(depth):
        ops.append(
            f"%s{index} = torch.aten.sum.dim_IntList %x{index}, %dims, %true, %none"
            f" : {tensor}, !torch.list<int>, !torch.bool, !torch.none -> {row}\n"
            f"%x{index + 1} = torch.aten.mul.Tensor %x{index}, %s{index} : {tensor}, {row} -> {tensor}"
        )
    ops.append(f"torch.overwrite.tensor.contents %x{depth} overwrites %o : {tensor}, {memory}")
    return _compiler_seconds(lambda: _compile([f"%x0: {tensor}"], [f"%o: {memory}"], ops))


def _results_seconds(count: int) -> float:
    """How long a region of `count` independent results takes to compile, in seconds of CPU time."""
    return _compiler_seconds(lambda: _region_call(count, 4096))


def _compiler_seconds(compile_: Callable[[], object]) -> float:
    """Seconds of CPU time that the compiler's processes take."""
    before = os.times()
    compile_()
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    sys.exit(main())
