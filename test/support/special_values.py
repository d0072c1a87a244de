"""Operands for decompositions, and how far from ATen's a result may be."""

import math
from collections.abc import Callable, Iterable

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from dovetail.frontend.decompose.table import decompositions

NAN, INF = math.nan, math.inf
CONSTANT = ("equal", "zeros")  # of any seed
KINDS = ("normal", "special", "infinite", "huge", *CONSTANT, "few")
UNITS = 32  # of the element type's epsilon: eager itself is a few off

Result = torch.Tensor | None


class Decomposed(TorchDispatchMode):
    """Computes what the table says, op by op; `met` are the overloads that it decomposed."""

    def __init__(self):
        super().__init__()
        self.table, self.met = decompositions(), set[torch._ops.OpOverload]()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in self.table:
            with self:
                found = self.table[func](*args, **kwargs)
            if found is not NotImplemented:
                self.met.add(func)
                return found
        return func(*args, **kwargs)


def all_numbers(dtype: torch.dtype) -> torch.Tensor:
    """Each of the 65,536 numbers of a type of half precision, NaN and subnormal ones among them."""
    return torch.arange(-(1 << 15), 1 << 15, dtype=torch.int16).view(dtype)


class Operands:
    """Makes tensors of one element type and kind, the same ones for the same seed; of double precision with `wide`."""

    def __init__(self, dtype: torch.dtype, kind: str, seed: int, wide: bool = False):
        self.dtype, self.kind, self.made = dtype, kind, torch.float64 if wide else dtype
        self.random = torch.Generator().manual_seed(seed)

    def __call__(self, *sizes: int) -> torch.Tensor:
        return self._numbers(math.prod(sizes)).to(self.dtype).to(self.made).view(sizes)

    def constant(self, number: float, *sizes: int) -> torch.Tensor:
        return torch.full(sizes, number, dtype=self.dtype).to(self.made)

    def _numbers(self, count: int) -> torch.Tensor:
        largest = torch.finfo(self.dtype).max
        normal = torch.randn(count, generator=self.random, dtype=torch.float64)
        if self.kind == "huge":
            return normal * (largest / 20)
        if self.kind == "equal":
            return torch.full((count,), 0.1, dtype=torch.float64)
        if self.kind == "zeros":
            return torch.tensor([0.0, -0.0], dtype=torch.float64).repeat(count)[:count]
        if self.kind == "few":
            return torch.randint(-2, 3, (count,), generator=self.random).double()
        if self.kind == "normal":
            return normal
        numbers = [INF, -INF, 0.0, -0.0]
        if self.kind == "special":
            numbers += [NAN, 1.0, -1.0, largest, -largest / 3, 1e-40, -1e-40, 3.0]
        positions = torch.randint(len(numbers), (count,), generator=self.random)
        picked = torch.rand(count, generator=self.random) < 0.15
        return torch.where(picked, torch.tensor(numbers, dtype=torch.float64)[positions], normal)


def as_list(results: Result | Iterable[Result]) -> list[Result]:
    return [results] if isinstance(results, torch.Tensor) or results is None else list(results)


def wrong(call: Callable, dtype: torch.dtype, kind: str, seed: int) -> str:
    """What of the decomposition's results is further from ATen's than rounding explains; "" if nothing is.

    Where ATen overflows on the way to a finite number, nothing is asked. ATen is as far off as its result in double
    precision tells, and a decomposition may be three times as far.
    """
    expected, right = (as_list(call(Operands(dtype, kind, seed, wide))) for wide in (False, True))
    with Decomposed():
        actual = as_list(call(Operands(dtype, kind, seed)))
    for index, (eager, exact, ours) in enumerate(zip(expected, right, actual, strict=True)):
        if eager is None or ours is None:
            continue
        if (eager.shape, eager.dtype) != (ours.shape, ours.dtype):
            return f"result {index}: {tuple(eager.shape)} {eager.dtype}, decomposed {tuple(ours.shape)} {ours.dtype}"
        where = ~_is_near(eager, exact, ours)
        if where.any():
            at = tuple(where.nonzero()[0].tolist())
            return f"result {index} at {at}: {eager[at].item()}, decomposed {ours[at].item()}"
    return ""


def _is_near(eager: torch.Tensor, exact: torch.Tensor, ours: torch.Tensor) -> torch.Tensor:
    same = (eager == ours) | (eager.isnan() & ours.isnan())
    if not eager.is_floating_point():
        return same
    finite = exact[exact.isfinite()].abs()
    scale = float(finite.max()) if finite.numel() else 0.0
    rounding = torch.finfo(eager.dtype).eps * UNITS
    exact = exact.double()
    off, ours_off = (eager.double() - exact).abs(), (ours.double() - exact).abs()
    near = ours_off <= 3 * off.nan_to_num(0.0) + rounding * (scale if scale < 1e30 else 0.0) + rounding * exact.abs()
    overflowed = ~eager.isfinite() & exact.to(eager.dtype).isfinite()
    return same | near | overflowed | ((exact == ours.double()) & ~exact.isfinite())
