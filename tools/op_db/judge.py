"""Whether what a compiled program shows is what eager shows."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from dovetail.tools.op_db.run import Seen

_MORE = 3  # times eager's own error to double precision
_UNITS = 2  # of the element type's epsilon, of the largest element


@dataclass(frozen=True)
class Bounds:
    """What eager gives in a wider precision, which is the truth, and for inputs one unit of rounding off."""

    wider: Seen | None = None
    nudged: tuple[Seen, ...] = ()


def difference(eager: Seen, compiled: Seen, bounds: Bounds, values: bool = True) -> str:
    """What differs first, as a sentence; "" for nothing.

    A value may be further from the truth than eager's by three times eager's largest error, plus two units of rounding
    of the largest element. Eager's error is what a wider precision shows, or what inputs do that are one unit of
    rounding off, in ops that round at random: eager may be lucky. `values` is False for memory that is never written.
    """
    if eager.results.keys() != compiled.results.keys():
        return f"shows {sorted(compiled.results)} for {sorted(eager.results)}"
    for name, expected in eager.results.items():
        wider = None if bounds.wider is None else bounds.wider.results.get(name)
        nudged = [seen.results.get(name) for seen in bounds.nudged]
        found = _differs(expected, compiled.results[name], wider, nudged, values)
        if found:
            return f"{name}: {found}"
    return ""


def _differs(expected: object, actual: object, wider: object, nudged: Sequence[object], values: bool) -> str:
    if not isinstance(expected, torch.Tensor) or not isinstance(actual, torch.Tensor):
        same = type(expected) is type(actual) and (expected == actual or expected != expected)
        return "" if same or expected is actual else f"{actual!r} for {expected!r}"
    for what in ("dtype", "layout", "shape", "requires_grad"):
        if getattr(expected, what) != getattr(actual, what):
            return f"{what} {getattr(actual, what)} for {getattr(expected, what)}"
    if expected.layout is not torch.strided:
        expected, actual = expected.to_dense(), actual.to_dense()
    elif expected.numel() and _strides(expected) != _strides(actual):
        return f"strides {tuple(actual.stride())} for {tuple(expected.stride())}"
    if not values:
        return ""
    return _value_differs(expected.detach().resolve_conj(), actual.detach().resolve_conj(), wider, nudged)


def _strides(tensor: torch.Tensor) -> list[int]:
    """Those of dimensions that have a second element."""
    return [stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size > 1]


def _value_differs(expected: torch.Tensor, actual: torch.Tensor, wider: object, nudged: Sequence[object]) -> str:
    if expected.is_quantized:
        expected, actual = expected.dequantize(), actual.dequantize()
    if not _is_rounded(expected.dtype):
        different = int((expected != actual).sum())
        return f"{different} of {expected.numel()} elements differ" if different else ""
    wide = torch.complex128 if expected.dtype.is_complex else torch.float64
    near, far = expected.to(wide), actual.to(wide)
    if not _same_kinds(near, far):
        return "NaN or an infinity at another place"
    finite = near.isfinite()
    if torch.equal(near[finite], far[finite]):
        return ""
    truth = _comparable(wider, near)
    truth = near if truth is None else truth
    moved = [each for each in (_comparable(other, near) for other in nudged) if each is not None]
    finite = finite & truth.isfinite()
    theirs = max(
        _furthest(near, truth, finite), *(_furthest(near, each, finite & each.isfinite()) for each in moved), 0.0
    )
    ours = _furthest(far, truth, finite)
    scale = _furthest(truth, torch.zeros_like(truth), finite)
    allowed = _MORE * theirs + _UNITS * torch.finfo(expected.dtype).eps * scale
    return "" if ours <= allowed else f"off by {ours:.3g}, eager by {theirs:.3g}, allowed {allowed:.3g}"


def _comparable(other: object, near: torch.Tensor) -> torch.Tensor | None:
    """`other` in the form of `near`; None where it is none of its kind."""
    if not isinstance(other, torch.Tensor) or other.shape != near.shape or not _is_rounded(other.dtype):
        return None
    return other.detach().to_dense().resolve_conj().to(near.dtype)


def _is_rounded(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


def _furthest(one: torch.Tensor, other: torch.Tensor, where: torch.Tensor) -> float:
    """The largest distance, 0 where `where` holds nowhere."""
    return float((one - other)[where].abs().max()) if where.any() else 0.0


def _same_kinds(expected: torch.Tensor, actual: torch.Tensor) -> bool:
    return torch.equal(expected.isnan(), actual.isnan()) and torch.equal(expected.isinf(), actual.isinf())
