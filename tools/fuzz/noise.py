"""What runs that are rounded at random add to numbers."""

import zlib
from functools import cache

import torch

EPSILONS = {each: torch.finfo(each).eps for each in (torch.float64, torch.float32, torch.bfloat16, torch.float16)}
_POOL = 1 << 21  # random numbers


class Noise:
    """Draws noise; another one for another `seed`.

    Attributes:
        is_correct: whether the op at hand is a sum or product of two numbers, which all seeds round alike.
        is_extreme: whether each draw is one end of the range: that tells in a few runs what is possible at most.
    """

    def __init__(self, seed: int):
        self.is_correct = False
        self.is_extreme = seed % 2 == 1
        self._random = torch.Generator("cpu").manual_seed(seed)
        self._is_by_value = seed // 4 % 2 == 1
        self._is_by_op = seed // 4 % 4 == 1
        self._seed = seed
        self._salt = (seed + 1) * 0x1E3779B97F4A7C15 % (1 << 62)

    def begin(self, op: str) -> None:
        """Has what follows be about one call of `op`: kernels are functions, and in some runs draws are, too."""
        if self._is_by_op:
            self._random.manual_seed(zlib.crc32(f"{self._seed} {op}".encode()))

    def added_to(self, wide: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """Numbers in double precision, up to half a unit in the last place of `dtype` off, or just that much."""
        unit = self.drawn(wide)
        relative = _half_of_subnormal(wide, dtype)
        return unit.mul(EPSILONS[dtype] / 2 if relative is None else relative).add_(1).mul_(wide)

    def drawn(self, like: torch.Tensor) -> torch.Tensor:
        """Numbers from -1 to 1, or one of the two."""
        return self.unit(like).sign() if self.is_extreme else self.unit(like)

    def unit(self, like: torch.Tensor) -> torch.Tensor:
        """Numbers from -1 to 1: a part of a pool, since drawing takes longer than using."""
        count = like.numel()
        if self.is_correct or self._is_by_value:
            salt = int(torch.randint(1 << 62, (), generator=self._random, device="cpu"))
            return _hashed(like, self._salt if self.is_correct else salt)
        if count > _POOL // 2 + _POOL // 16:
            drawn = torch.rand(like.shape, generator=self._random, dtype=torch.float64, device="cpu")
            return drawn.to(like.device) * 2 - 1
        start = int(torch.randint(_POOL - count, (), generator=self._random, device="cpu"))
        return _pool()[start : start + count].view(like.shape).to(like.device)


def _half_of_subnormal(wide: torch.Tensor, dtype: torch.dtype) -> torch.Tensor | None:
    """Half a unit in the last place, relative to each number, where some are subnormal: their unit stays the same.

    No number is moved by more than its half: nothing turns to zero, or changes its sign, that does not round to zero.
    """
    precision = torch.finfo(dtype)
    sizes = wide.abs()
    if not sizes.numel() or sizes.amin() >= precision.smallest_normal:
        return None
    if not ((sizes > 0) & (sizes < precision.smallest_normal)).any():
        return None
    step = precision.smallest_normal * precision.eps
    return (step / sizes / 2).clamp(precision.eps / 2, 0.5)  # half a step of float64 is 0


@cache
def _pool() -> torch.Tensor:
    random = torch.Generator("cpu").manual_seed(0)
    return torch.rand(_POOL, generator=random, dtype=torch.float64, device="cpu") * 2 - 1


def _hashed(wide: torch.Tensor, salt: int) -> torch.Tensor:
    """Numbers from -1 to 1, equal where those of `wide` are (SplitMix64: Steele, Lea and Flood, OOPSLA 2014)."""
    bits = wide.contiguous().view(torch.int64) ^ salt
    shifted = torch.empty_like(bits)
    for shift, factor in ((30, -0x40A7B892E31B1A47), (27, -0x6B2FB644ECCEEE15)):
        torch.bitwise_right_shift(bits, shift, out=shifted)
        bits ^= shifted.bitwise_and_((1 << 64 - shift) - 1)
        bits *= factor
    return bits.double().mul_(2.0**-63)
