"""The measure of every comparison: the error to a float64 reference, beside the error that eager itself makes.

A float32 program is right when it is about as far from the exact result as eager is. A fixed tolerance would be too
loose for well-conditioned values and too tight for cancelling sums; eager's own error is neither.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import torch

# Allowed error in multiples of eager's own.
EAGER_FACTOR = 3.0
# And, because eager's error can be zero by luck, in units of the last place of the tensor's largest value.
ULPS = 4.0


@dataclass(frozen=True)
class Verdict:
    """One tensor compared at one step. Errors are the largest absolute difference to the reference.

    `scale` is the reference's largest magnitude. `widened` says that several eager runs were needed (see `lockstep`).
    """

    step: int
    kind: str
    name: str
    error: float
    eager_error: float
    scale: float
    allowed: float
    widened: bool = False

    @property
    def ok(self) -> bool:
        """False for NaN too: no comparison with NaN holds."""
        return self.error <= self.allowed

    def __str__(self) -> str:
        return (
            f"step {self.step}, {self.kind} {self.name}: error {self.error:.3g} to float64, allowed {self.allowed:.3g} "
            f"(eager's own error {self.eager_error:.3g}, largest value {self.scale:.3g})"
        )


def judge(
    step: int,
    kind: str,
    values: dict[str, torch.Tensor],
    eager: Sequence[dict[str, torch.Tensor]],
    reference: dict[str, torch.Tensor],
) -> list[Verdict]:
    """Compares tensors of the same names: `values` under test, one or more `eager` runs, the float64 `reference`.

    Integers and booleans must be equal. A name that only one side has, or another dtype or shape than eager's, counts
    as an infinite error.
    """
    names = sorted(values.keys() | reference.keys())
    return [
        _judge_one(step, kind, name, values.get(name), [run.get(name) for run in eager], reference.get(name))
        for name in names
    ]


def _judge_one(
    step: int,
    kind: str,
    name: str,
    value: torch.Tensor | None,
    eager: Sequence[torch.Tensor | None],
    reference: torch.Tensor | None,
) -> Verdict:
    first = eager[0]
    if value is None or first is None or reference is None or (value.dtype, value.shape) != (first.dtype, first.shape):
        return Verdict(step, kind, name, error=inf, eager_error=0.0, scale=0.0, allowed=0.0)
    exact = reference.double()
    eager_error = max(_distance(run, exact) for run in eager if run is not None)
    scale = _largest(exact)
    rounding = torch.finfo(value.dtype).eps if value.is_floating_point() else 0.0
    allowed = EAGER_FACTOR * eager_error + ULPS * rounding * scale
    return Verdict(step, kind, name, _distance(value, exact), eager_error, scale, allowed, widened=len(eager) > 1)


def _distance(value: torch.Tensor, exact: torch.Tensor) -> float:
    return _largest(value.double() - exact)


def _largest(tensor: torch.Tensor) -> float:
    return tensor.abs().max().item() if tensor.numel() else 0.0
