"""Times one case on a GPU: eager, inductor and Dovetail in turns, by the GPU's own events."""

import functools
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from statistics import median
from time import perf_counter
from typing import Any

import torch

import dovetail
from dovetail.tools.demo.float64 import KeepFloat64
from dovetail.tools.demo.timing import cold_caches, said_by_process
from dovetail.tools.gpu.cases import CASES, Case, Make

EAGER, THEIRS, OURS = "eager", "inductor", "dovetail"
COPY = "copy"
"""Of as many bytes: what memory allows a launch so short."""
ROUNDS = 15
SAMPLE_SECONDS = 0.004
ALLOWED = 3.0
"""Times eager's error to float64 that a compiled result's may be."""

Step = Callable[[], list[torch.Tensor]]


@dataclass
class Measured:
    """A case's figures: microseconds a call by compiler, or why there are none.

    `on_gpu` are those that pass on the GPU alone, of cases that memory bounds: a call of less is issued in more. A copy
    that reads and writes `bytes_moved` in all is among them.
    `compile_seconds` are those of a model's first call in this process, which has compiled other things before, forward
    and backward, with empty caches of the compiler's.
    `error` is the largest ‖result − float64‖/‖float64‖ of Dovetail's results over eager's; `bytes_moved` those of
    arguments and results; `fallbacks` the ops that Dovetail left to ATen for want of anything better.
    """

    case: str
    group: str
    microseconds: dict[str, float] = field(default_factory=dict)
    on_gpu: dict[str, float] = field(default_factory=dict)
    compile_seconds: dict[str, float] = field(default_factory=dict)
    error: float | None = None
    bytes_moved: int = 0
    fallbacks: int = 0
    problem: str = ""


def measure(case: Case, device: str = "cuda", shrink: int = 1) -> Measured:
    """Measures `case`, a model with empty caches; a compiler that fails, or is wrong, is named in `problem` instead.

    Dynamo forgets earlier cases: where one computed the same of other sizes, it would have this one's open.
    """
    torch.compiler.reset()
    with cold_caches() if case.group == "model" else nullcontext():
        return _measured(case, device, shrink)


def _measured(case: Case, device: str, shrink: int) -> Measured:
    made = Measured(case.name, case.group)
    make = Make(device, case.dtype, shrink)
    steps = {EAGER: prepare(case, make, None)}
    expected, exact = (_compared(case, step()) for step in (steps[EAGER], prepare(case, make, None, is_wide=True)))
    for name in (THEIRS, OURS):
        dovetail.stats(reset=True)
        try:
            begin = perf_counter()
            step = prepare(case, make, name)
            results = step()
            torch.cuda.synchronize()
            if case.group == "model":
                made.compile_seconds[name] = perf_counter() - begin
            error = _error_ratio(_compared(case, results), expected, exact)
        except Exception as failure:  # a compiler's failure is a figure of the report
            made.problem += f"{name}: {type(failure).__name__}: {' '.join(str(failure).split())[:300]} "
            continue
        if name == OURS:
            made.error, made.fallbacks = error, dovetail.stats().ops["fallback"]
        if not error <= ALLOWED:
            made.problem += f"{name}: error {error:.3g} times eager's "
            continue
        steps[name] = step
    made.bytes_moved = sum(each.nbytes for each in (*case.build(make).arguments, *expected))
    timed = host_microseconds if case.group == "call" else device_microseconds
    made.microseconds = timed(steps)
    if case.group == "memory":
        steps[COPY] = _copy(made.bytes_moved, device)
        made.on_gpu = {name: gpu_microseconds(step) for name, step in steps.items()}
    return made


def first_calls(case: Case, device: str = "cuda", shrink: int = 1) -> dict[str, float]:
    """Seconds of the first call of `case` by compiler, each in a new process with empty caches.

    A compiler whose process fails has none; its message is on stderr.
    """
    options, found = ("--device", device, "--shrink", str(shrink)), dict[str, float]()
    for name in (THEIRS, OURS):
        try:
            with cold_caches():
                found[name] = said_by_process("dovetail.tools.gpu.first_call", case.name, name, *options)
        except subprocess.CalledProcessError as error:
            print(f"{case.name}: {error}", file=sys.stderr)
    return found


def measure_named(name: str, shrink: int) -> Measured:
    """`measure` of a case that another process names: what a case computes can't be pickled."""
    return measure(_named(name), shrink=shrink)


def first_calls_named(name: str, shrink: int) -> dict[str, float]:
    """`first_calls` of a case that another process names."""
    return first_calls(_named(name), shrink=shrink)


def _named(name: str) -> Case:
    return next(each for each in CASES if each.name == name)


def prepare(case: Case, make: Make, backend: str | None, is_wide: bool = False) -> Step:
    """The case's step, compiled by a backend of `torch.compile`'s; eager for None, in float64 if it `is_wide`."""
    torch.manual_seed(0)
    work = case.build(replace(make, is_wide=is_wide))
    compiled = work.compute if backend is None else torch.compile(work.compute, backend=backend, mode=case.mode)

    def forward() -> Any:
        return compiled(*work.arguments)

    if case.autocast and not is_wide:
        forward = torch.autocast(make.device, torch.bfloat16)(forward)
    if not case.trains:

        def infer() -> list[torch.Tensor]:
            with torch.no_grad():
                result = forward()
            return list(work.written) if result is None else [result]

        return infer
    leaves = [argument.requires_grad_() for argument in work.arguments if argument.is_floating_point()]
    leaves += work.compute.parameters() if isinstance(work.compute, torch.nn.Module) else ()
    given = functools.cache(_tangent)

    def train() -> list[torch.Tensor]:
        for leaf in leaves:
            leaf.grad = None
        with KeepFloat64() if is_wide else nullcontext():
            result = forward()
        result.backward(given(result.shape, result.dtype, result.device))
        return [result.detach(), *(leaf.grad for leaf in leaves if leaf.grad is not None)]

    return train


def _tangent(shape: torch.Size, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """The same for each compiler, also where it computes in float64."""
    drawn = torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    return drawn.bfloat16().to(device, dtype)


def _compared(case: Case, results: list[torch.Tensor]) -> list[torch.Tensor]:
    """Copies of what is compared: of a model its loss, and all gradients as one, of which some are but rounding."""
    if case.group != "model":
        return [result.detach().clone() for result in results]
    return [results[0].clone(), torch.cat([result.flatten() for result in results[1:]])]


def device_microseconds(steps: dict[str, Step]) -> dict[str, float]:
    """Medians of `ROUNDS` samples, in turns: what passes on the GPU between events around several calls."""
    inner = {name: _calls_in_a_sample(step) for name, step in steps.items()}
    samples: dict[str, list[float]] = {name: [] for name in steps}
    order = random.Random(0)
    for _ in range(ROUNDS):
        for name in order.sample(list(steps), len(steps)):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            begin.record()
            for _ in range(inner[name]):
                steps[name]()
            end.record()
            end.synchronize()
            samples[name].append(begin.elapsed_time(end) * 1000 / inner[name])
    return {name: median(each) for name, each in samples.items()}


def gpu_microseconds(step: Step, calls: int = 20) -> float:
    """The median of `ROUNDS` samples of what passes on the GPU alone: it waits until all `calls` are issued.

    Raises:
        RuntimeError: if it never waits so long, as where a call waits for the GPU.
    """
    samples: list[float] = []
    cycles = 1 << 20
    while len(samples) < ROUNDS:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        torch.cuda._sleep(cycles)
        begin.record()
        for _ in range(calls):
            step()
        end.record()
        is_ahead = not begin.query()
        end.synchronize()
        if is_ahead:
            samples.append(begin.elapsed_time(end) * 1000 / calls)
        elif cycles < 1 << 32:
            cycles *= 2
        else:
            raise RuntimeError("the GPU is never behind the host")
    return median(samples)


def host_microseconds(steps: dict[str, Step], calls: int = 200) -> dict[str, float]:
    """Medians of `ROUNDS` samples, in turns: the host's time for a call, which waits for nothing."""
    samples: dict[str, list[float]] = {name: [] for name in steps}
    order = random.Random(0)
    for step in steps.values():
        _calls_in_a_sample(step)
    for _ in range(ROUNDS):
        for name in order.sample(list(steps), len(steps)):
            step = steps[name]
            torch.cuda.synchronize()
            begin = perf_counter()
            for _ in range(calls):
                step()
            samples[name].append((perf_counter() - begin) * 1e6 / calls)
    return {name: median(each) for name, each in samples.items()}


def copy_bandwidth() -> float:
    """Bytes a second that a copy of 256 MiB reads and writes."""
    moved = 512 << 20
    return moved / (device_microseconds({COPY: _copy(moved, "cuda")})[COPY] / 1e6)


def _copy(moved: int, device: str) -> Step:
    """Reads half of the bytes `moved` and writes half."""
    source = torch.empty(moved // 2, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    return lambda: [target.copy_(source)]


def _calls_in_a_sample(step: Step) -> int:
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    begin = perf_counter()
    step()
    torch.cuda.synchronize()
    return max(1, min(200, int(SAMPLE_SECONDS / (perf_counter() - begin))))


def _error_ratio(results: list, expected: list, exact: list) -> float:
    """The largest error of `results` over that of `expected`, or over half a unit in the last place if that is more."""
    ratios = [0.0]
    for got, eager, true in zip(results, expected, exact, strict=True):
        floor = torch.finfo(eager.dtype).eps / 2
        ratios.append(_distance(got, true) / max(_distance(eager, true), floor))
    return max(ratios)


def _distance(got: torch.Tensor, true: torch.Tensor) -> float:
    return ((got.double() - true).norm() / true.norm().clamp_min(1e-300)).item()
