"""Reductions of many numbers: their error to float64, beside that of ATen."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy
import torch
from torch_mlir import ir

from dovetail.backends.base_target import Target
from dovetail.backends.compiling.outcomes import CompileFailure
from dovetail.passes.placement.place_ops import PlaceOpsPass
from dovetail.runtime.launches.iree_executable import prepare
from dovetail.tools.sweep.imported import imported, keep_compiled
from dovetail.tools.sweep.launch import launched, lower

TIMES_EAGER = 3
"""How many times as large as ATen's the error may be, beside the result's own rounding."""

_FLOATS = (torch.float32, torch.float64, torch.bfloat16)
_DRAWS = range(3)

Reduce = Callable[[torch.Tensor, int | None], torch.Tensor]

_LENGTHS = (1, 2, 31, 33, 64, 1000, 1009, 4096, 50257, 65536, 532000, 1000003, 10**7)
_SHAPES: tuple[tuple[tuple[int, ...], int | None], ...] = (
    *(((length,), None) for length in _LENGTHS),
    *(((1009, 1013), dim) for dim in (0, 1, None)),
    *(((4096, 256), dim) for dim in (0, 1, None)),
    *(((40, 1000, 30), dim) for dim in (0, 1, 2)),
)


def _by_itself(name: str) -> Reduce:
    return lambda value, dim: getattr(torch, name)(value) if dim is None else getattr(torch, name)(value, dim=dim)


def _along(name: str) -> Reduce:
    return lambda value, dim: getattr(torch, name)(value, dim=0 if dim is None else dim)


LARGE: dict[str, Reduce] = {
    "sum": _by_itself("sum"),
    "sum of products": lambda value, dim: _by_itself("sum")(value * value, dim),
    "sum of a fused value": lambda value, dim: _by_itself("sum")(value * torch.sigmoid(value), dim),
    "mean": _by_itself("mean"),
    "var": _by_itself("var"),
    "vector_norm": lambda value, dim: torch.linalg.vector_norm(value, 2, dim),
    "logsumexp": _along("logsumexp"),
    "softmax": _along("softmax"),
    "log_softmax": _along("log_softmax"),
    "layer_norm": lambda value, dim: torch.nn.functional.layer_norm(
        value, value.shape if dim is None else value.shape[-1:]
    ),
}
"""What is reduced, by the name that a finding shows."""


@dataclass(frozen=True)
class LargeCase:
    """One reduction of one tensor; `dim` None reduces all of it."""

    name: str
    shape: tuple[int, ...]
    dim: int | None
    dtype: torch.dtype

    def __str__(self) -> str:
        along = "" if self.dim is None else f" along {self.dim}"
        return f"{self.name} of {'x'.join(map(str, self.shape))}{along} {str(self.dtype).removeprefix('torch.')}"

    def __call__(self, value: torch.Tensor) -> torch.Tensor:
        return LARGE[self.name](value, self.dim)


def large_cases(name: str) -> Iterator[LargeCase]:
    """The reduction called `name` of every shape and type; float64 only where numpy adds up in a wider type."""
    for shape, dim in _SHAPES:
        for dtype in _FLOATS:
            if (dtype is not torch.float64 or name in ("sum", "mean")) and (name != "var" or math.prod(shape) > 1):
                yield LargeCase(name, shape, dim, dtype)


def check_large(case: LargeCase, target: Target) -> tuple[str, str]:
    """Why ATen computes the case, and how it is wrong; "" for what does not hold."""
    draws = [torch.rand(case.shape, generator=torch.Generator().manual_seed(seed)).to(case.dtype) for seed in _DRAWS]
    module = imported(lambda value: [case(value)], draws[:1], decompose=True)
    with module.context, ir.Location.unknown():
        PlaceOpsPass().run(module)
        (reason,), layout = keep_compiled(module, [1])
        if reason:
            return reason, ""
        lower(module)
    region = launched(module, target)
    if isinstance(region, CompileFailure):
        return "", region.reason
    ours = eager = 0.0
    for value in draws:
        got = torch.empty(layout[0].shape, dtype=case.dtype)
        region.run(prepare(value), got)
        best = _best(case, value)
        ours, eager = max(ours, _error(got, best)), max(eager, _error(case(value), best))
    allowed = TIMES_EAGER * eager + torch.finfo(case.dtype).eps
    return "", "" if ours <= allowed else f"off by {ours:.1e} where ATen is by {eager:.1e}"


def _best(case: LargeCase, value: torch.Tensor) -> numpy.ndarray:
    """The result in float64, for float64 in what C calls a long double."""
    if case.dtype is not torch.float64:
        return case(value.double()).numpy()
    return getattr(numpy, case.name)(value.numpy().astype(numpy.longdouble), axis=case.dim)


def _error(result: torch.Tensor, best: numpy.ndarray) -> float:
    """The largest error, as a part of the largest result."""
    return float(numpy.abs(result.double().numpy() - best).max() / numpy.abs(best).max())
