"""The numbers that programs compute with, by kind."""

import math

import torch

# Of float32: infinities, NaN, both zeros, subnormal and nearly subnormal numbers, huge ones.
_SPECIAL = torch.tensor(
    [math.inf, -math.inf, math.nan, -0.0, 0.0, 1e-40, -1.4e-45, 1.2e-38, 1e30, -3e38], dtype=torch.float32, device="cpu"
)
_SHARE = 5  # one element of so many is special


def numbers(kind: str, salt: int, shape: tuple[int, ...], dtype: str = "float32") -> torch.Tensor:
    """A contiguous tensor of this shape, whose elements are rounded to `dtype`; others for each `salt`.

    Kinds: "grid" (eighths between -3 and 3, with which sums, products and comparisons are exact), "normal", "positive"
    (0.5 to 2), "few" (whole numbers from -2 to 2, so that there are ties), "special" (a grid with infinities, NaN,
    zeros of both signs, subnormal and huge numbers), "subnormal" (a grid times 2**-140), "whole" (-9 to 9), "large" and
    "small" (normal, times a power of two from 1 to 2**70, or 2**-70 to 1, which `salt` tells), "wide" (normal, each
    times a power of two from 2**-20 to 2**20). They are the same on each device, and lie on the default one.
    """
    with torch.device("cpu"):
        made = _on_host(kind, salt, shape, dtype)
    return made.to(torch.get_default_device())


def _on_host(kind: str, salt: int, shape: tuple[int, ...], dtype: str) -> torch.Tensor:
    random = torch.Generator().manual_seed(salt)
    wanted = getattr(torch, dtype)
    if dtype == "bool":
        return torch.randint(0, 2, shape, generator=random) == 1
    if kind == "normal":
        return torch.randn(shape, generator=random, dtype=torch.float32).to(wanted)
    if kind == "positive":
        return (torch.rand(shape, generator=random, dtype=torch.float32) * 1.5 + 0.5).to(wanted)
    if kind in ("large", "small", "wide"):
        power = torch.randint(-20, 21, shape, generator=random) if kind == "wide" else torch.tensor(salt % 71)
        made = torch.randn(shape, generator=random, dtype=torch.float32)
        return torch.ldexp(made, -power if kind == "small" else power).to(wanted)
    if kind in ("few", "whole"):
        bound = 2 if kind == "few" else 9
        return torch.randint(-bound, bound + 1, shape, generator=random).to(wanted)
    grid = torch.randint(-24, 25, shape, generator=random).to(torch.float32) / 8
    if kind == "subnormal":
        return torch.ldexp(grid, torch.tensor(-140)).to(wanted)
    if kind == "special":
        which = torch.randint(0, len(_SPECIAL) * _SHARE, shape, generator=random)
        grid = torch.where(which < len(_SPECIAL), _SPECIAL[which % len(_SPECIAL)], grid)
    return grid.to(wanted)


def in_double_precision(kind: str, salt: int, shape: tuple[int, ...], dtype: str = "float32") -> torch.Tensor:
    """The same numbers, rounded to `dtype`, as a program in double precision takes them."""
    made = numbers(kind, salt, shape, dtype)
    return made.double() if made.is_floating_point() else made
