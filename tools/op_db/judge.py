"""Whether what a compiled program shows is what eager shows."""

import torch

from dovetail.tools.op_db.run import Seen

_MORE = 3  # times eager's own error to double precision
_UNITS = 2  # of the element type's epsilon, of the largest element


def difference(eager: Seen, compiled: Seen, precise: Seen | None, values: bool = True) -> str:
    """What differs first, as a sentence; "" for nothing.

    A value may be further from double precision than eager's by three times eager's largest error, plus four units of
    rounding of the largest element. Without `precise`, eager stands for it. `values` is False for memory that nothing
    has written.
    """
    if eager.results.keys() != compiled.results.keys():
        return f"shows {sorted(compiled.results)} for {sorted(eager.results)}"
    for name, expected in eager.results.items():
        reference = None if precise is None else precise.results.get(name)
        found = _differs(expected, compiled.results[name], reference, values)
        if found:
            return f"{name}: {found}"
    return ""


def _differs(expected: object, actual: object, precise: object, values: bool) -> str:
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
    return _value_differs(expected.detach().resolve_conj(), actual.detach().resolve_conj(), precise)


def _strides(tensor: torch.Tensor) -> list[int]:
    """Those of dimensions that have a second element."""
    return [stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size > 1]


def _value_differs(expected: torch.Tensor, actual: torch.Tensor, precise: object) -> str:
    if expected.is_quantized:
        expected, actual = expected.dequantize(), actual.dequantize()
    if torch.equal(torch.nan_to_num(expected), torch.nan_to_num(actual)) and _same_kinds(expected, actual):
        return ""
    if not expected.dtype.is_floating_point and not expected.dtype.is_complex:
        return f"{int((expected != actual).sum())} of {expected.numel()} elements differ"
    if not _same_kinds(expected, actual):
        return "NaN or an infinity at another place"
    wide = torch.complex128 if expected.dtype.is_complex else torch.float64
    near, far = expected.to(wide), actual.to(wide)
    truth = near
    if isinstance(precise, torch.Tensor) and precise.shape == expected.shape:
        truth = precise.detach().to_dense().to(wide)
    finite = near.isfinite() & truth.isfinite()
    if not finite.any():
        return ""
    scale = float(truth[finite].abs().max())
    theirs, ours = (float((each - truth)[finite].abs().max()) for each in (near, far))
    allowed = _MORE * theirs + _UNITS * torch.finfo(expected.dtype).eps * scale
    return "" if ours <= allowed else f"off by {ours:.3g}, eager by {theirs:.3g}, allowed {allowed:.3g}"


def _same_kinds(expected: torch.Tensor, actual: torch.Tensor) -> bool:
    return torch.equal(expected.isnan(), actual.isnan()) and torch.equal(expected.isinf(), actual.isinf())
