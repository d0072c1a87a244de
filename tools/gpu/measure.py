"""Times one case on a GPU: eager, inductor and Dovetail in turns, by the GPU's own events."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter

import torch

import dovetail
from dovetail.tools.gpu.cases import Case, Make

EAGER, THEIRS, OURS = "eager", "inductor", "dovetail"
ROUNDS = 15
SAMPLE_SECONDS = 0.004
ALLOWED = 3.0
"""Times eager's error to float64 that a compiled result's may be."""

Step = Callable[[], list[torch.Tensor]]


@dataclass
class Measured:
    """A case's figures: microseconds a call by compiler, or why there are none.

    `error` is the largest ‖result − float64‖/‖float64‖ of Dovetail's results over eager's; `bytes_moved` those of
    arguments and results; `fallbacks` the ops that Dovetail left to ATen for want of anything better.
    """

    case: str
    group: str
    microseconds: dict[str, float] = field(default_factory=dict)
    compile_seconds: dict[str, float] = field(default_factory=dict)
    error: float | None = None
    bytes_moved: int = 0
    fallbacks: int = 0
    problem: str = ""


def measure(case: Case, device: str = "cuda", shrink: int = 1) -> Measured:
    """Measures `case`; a compiler that fails, or is wrong, is named in `problem` and has no figure."""
    made = Measured(case.name, case.group)
    make = Make(device, case.dtype, shrink)
    steps = {EAGER: prepare(case, make, None)}
    expected, exact = steps[EAGER](), prepare(case, make, None, wide=True)()
    for name in (THEIRS, OURS):
        torch.compiler.reset()
        dovetail.stats(reset=True)
        try:
            begin = perf_counter()
            step = prepare(case, make, name)
            results = step()
            made.compile_seconds[name] = perf_counter() - begin
            error = _error_ratio(results, expected, exact)
        except Exception as failure:  # a compiler's failure is a figure of the report
            made.problem += f"{name}: {type(failure).__name__}: {' '.join(str(failure).split())[:300]} "
            continue
        if name == OURS:
            made.error, made.fallbacks = error, dovetail.stats().ops["fallback"]
        if not error <= ALLOWED:
            made.problem += f"{name}: error {error:.3g} times eager's "
            continue
        steps[name] = step
    made.bytes_moved = sum(each.nbytes for each in (*_given(case, make), *expected))
    timed = host_microseconds if case.group == "call" else device_microseconds
    made.microseconds = timed(steps)
    return made


def prepare(case: Case, make: Make, backend: str | None, wide: bool = False) -> Step:
    """The case's step, compiled by a backend of `torch.compile`'s; eager for None, in float64 if it is `wide`."""
    torch.manual_seed(0)
    compute, arguments = case.build(make)
    if wide:
        arguments = tuple(each.double() if each.is_floating_point() else each for each in arguments)
        compute = compute.double() if isinstance(compute, torch.nn.Module) else compute
    compiled = compute if backend is None else torch.compile(compute, backend=backend, mode=case.mode)
    if not case.trains:

        def infer() -> list[torch.Tensor]:
            with torch.no_grad():
                result = compiled(*arguments)
            return [] if result is None else [result]

        return infer
    leaves = [each.requires_grad_() for each in arguments if each.is_floating_point()]
    leaves += compute.parameters() if isinstance(compute, torch.nn.Module) else ()
    result = compute(*arguments)
    tangent = torch.randn(result.shape, dtype=make.dtype, device=make.device).to(result.dtype)
    del result

    def train() -> list[torch.Tensor]:
        for leaf in leaves:
            leaf.grad = None
        result = compiled(*arguments)
        result.backward(tangent)
        return [result.detach(), *(leaf.grad for leaf in leaves if leaf.grad is not None)]

    return train


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


def copy_bandwidth(size: int = 256 << 20) -> float:
    """Bytes a second that a copy of `size` bytes reads and writes."""
    source = torch.empty(size, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * size / (device_microseconds({EAGER: lambda: [target.copy_(source)]})[EAGER] / 1e6)


def _calls_in_a_sample(step: Step) -> int:
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    begin = perf_counter()
    step()
    torch.cuda.synchronize()
    return max(1, min(200, int(SAMPLE_SECONDS / (perf_counter() - begin))))


def _given(case: Case, make: Make) -> tuple[torch.Tensor, ...]:
    return case.build(make)[1]


def _error_ratio(results: list, expected: list, exact: list) -> float:
    """The largest error of `results` over that of `expected`, or over half a unit in the last place if that is more."""
    ratios = [0.0]
    for got, eager, true in zip(results, expected, exact, strict=True):
        floor = torch.finfo(eager.dtype).eps / 2
        ratios.append(_distance(got, true) / max(_distance(eager, true), floor))
    return max(ratios)


def _distance(got: torch.Tensor, true: torch.Tensor) -> float:
    return ((got.double() - true).norm() / true.norm().clamp_min(1e-300)).item()
