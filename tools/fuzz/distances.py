"""How far numbers are from those in double precision, element by element, and how far they may be."""

import torch

from dovetail.tools.fuzz.compare import Difference
from dovetail.tools.fuzz.observe import Key

_MORE = 3  # times eager's error


def equal(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    return (first == second) | ((first != first) & (second != second))


def error(values: torch.Tensor, right: torch.Tensor | None) -> torch.Tensor:
    """Distances; NaN where one of the two is not finite, or nothing is known."""
    if right is None or right.shape != values.shape:
        return torch.full(values.shape, torch.nan, dtype=torch.float64)
    distance = (values.double() - right.double()).abs()
    return distance + (distance - distance)  # which is NaN of infinities


def is_same_infinity(values: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Which elements are infinite or NaN as the value in double precision is, whatever rounding made of eager's."""
    return ~right.isfinite() & equal(values.to(right.dtype), right)


def reference(values: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """What distances are measured from: eager's own numbers where the value in double precision is none.

    A division by what is zero in double precision and nearly zero in eager, say: what rounding does to eager's tells
    how far apart such numbers are.
    """
    if not right.is_floating_point():
        return right
    return torch.where(right.isfinite() | ~values.isfinite(), right, values.double())


def eager_error(values: torch.Tensor, right: torch.Tensor | None) -> torch.Tensor:
    """Distances, infinite where eager's own run overflowed on its way to a value that is finite in double precision.

    Beyond the largest number of the type, an infinity of the value's sign is right; NaN, or the other sign, is not.
    """
    found = error(values, right)
    if right is None or right.shape != values.shape:
        return found
    overflowed = ~values.isfinite() & right.isfinite() & ~equal(values, right.to(values.dtype))
    return torch.where(overflowed, torch.inf, found)


def _allowed(right: torch.Tensor, spread: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    rounding = torch.zeros_like(spread)
    if dtype.is_floating_point:
        precision = torch.finfo(dtype)
        rounding = right.double().abs() * precision.eps + precision.smallest_normal * precision.eps
    return _MORE * spread.nan_to_num(0.0) + rounding


def far(values: torch.Tensor, right: torch.Tensor | None, spread: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
    """Of the elements `where`, those beyond the bound."""
    if right is None or right.shape != values.shape:
        return where
    allowed = _allowed(right, spread, values.dtype)
    return where & ~allowed.isinf() & ~((values.double() - right.double()).abs() <= allowed)


def difference(
    key: Key,
    call: int,
    eager: torch.Tensor,
    compiled: torch.Tensor,
    right: torch.Tensor | None,
    spread: torch.Tensor,
    where: torch.Tensor,
) -> Difference:
    """Shows the first element beyond the bound, beside what it should be."""
    first = tuple(where.nonzero()[0].tolist())
    at = f"{list(first)} of {list(eager.shape)} (one of {int(where.sum())} elements): " if eager.ndim else ""
    expected = f"{at}{eager[first].item()!r}"
    if right is None or right.shape != eager.shape:
        return Difference(key[0], call, key[1], expected, repr(compiled[first].item()))
    bound = _allowed(right, spread, eager.dtype)[first].item()
    precise = f" (in double precision {right[first].item()!r}, at most {bound:.3g} off)"
    return Difference(key[0], call, key[1], expected + precise, repr(compiled[first].item()))
