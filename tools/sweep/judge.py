"""When what a region computes is right: how far it may be from what ATen does, and where ATen is no measure."""

from dataclasses import dataclass, field

import torch

from dovetail.dialects.torch_facts.ops import Kind, kind_of_name
from dovetail.tools.sweep.cases import Case

# Relative and absolute tolerance in units of the dtype's epsilon. Eager itself is a few units off.
UNITS = {torch.float32: 32, torch.float64: 4096, torch.float16: 4, torch.bfloat16: 4}

# By overload: where eager itself is off, or depends on the order in which an overflow happens.
_OVERFLOW = "where a product or sum overflows on the way, or an infinity takes part"
_ONE_PASS = "eager's one-pass mean is NaN where an infinity takes part or the sum overflows; ours is infinite"
_LOOPS = "eager's vector loop gives NaN for a NaN input, its loop for the rest the gradient"
_HALF_PRODUCT = "of float16 with `alpha`: without AVX2, eager rounds the product to float16, and it overflows"
_OF_ALPHA = ("aten.add.Tensor", "aten.rsub.Tensor", "aten.sub.Tensor")
EAGER_IS_OFF = {"aten.prod.dim_int": "eager multiplies float16 in float16 along a dimension, and overflows"}
ACCEPTED = {
    **EAGER_IS_OFF,
    "aten.softplus_backward.default": _OVERFLOW,
    "aten.hardtanh_backward.default": "eager's vector loop gives 0 for a NaN input, its loop for the rest the gradient",
    "aten.addcdiv.default": _OVERFLOW,
    "aten.addcmul.default": _OVERFLOW,
    "aten.sigmoid_backward.default": _OVERFLOW,
    "aten._softmax_backward_data.default": _OVERFLOW,
    "aten._log_softmax_backward_data.default": _OVERFLOW,
    "aten.var_mean.correction": _ONE_PASS,
    "aten.native_layer_norm.default": _ONE_PASS,
    "aten.native_group_norm.default": _ONE_PASS,
    **dict.fromkeys(("aten.elu_backward.default", "aten.hardswish_backward.default"), _LOOPS),
    "aten.gelu.default": "eager's value for +inf is NaN in its vector loop",
    **dict.fromkeys(_OF_ALPHA, _HALF_PRODUCT),
}


@dataclass
class Outcome:
    """What became of one case: "" in `refused` and `failed` and nothing in `differs` means compiled and right."""

    case: Case
    refused: str = ""
    failed: str = ""
    differs: dict[str, str] = field(default_factory=dict)

    @property
    def wrong(self) -> bool:
        """Whether a compiled region would give a wrong result, or not compile."""
        serious = set(self.differs)
        if _is_accepted(self.case):
            serious -= {"special", "beyond"} | ({"ordinary"} if self.case.name in EAGER_IS_OFF else set())
        return bool(self.failed or serious)


def _is_accepted(case: Case) -> bool:
    """Whether what `ACCEPTED` says of the op is about this call."""
    if case.name in _OF_ALPHA:
        return case.dtype is torch.float16 and "alpha" in dict(case.keywords)
    return case.name in ACCEPTED


def compare(
    outcome: Outcome, which: str, got: torch.Tensor, accepted: list[torch.Tensor], inputs: list[torch.Tensor]
) -> None:
    """Notes in `outcome` where `got`, on values of class `which`, differs from all results that are `accepted`."""
    expected = accepted[0]
    if got.dtype != expected.dtype or got.shape != expected.shape:
        outcome.differs[which] = f"{got.dtype} {tuple(got.shape)} instead of {expected.dtype} {tuple(expected.shape)}"
        return
    wrong = torch.stack([_wrong(outcome, got, each, inputs) for each in accepted]).all(0)
    if wrong.any():
        where = tuple(wrong.nonzero()[0].tolist())
        operands = [each[where].item() for each in inputs if each.shape == wrong.shape and wrong.shape]
        outcome.differs[which] = (
            f"{int(wrong.sum())} of {wrong.numel()}, e.g. {got[where].item()!r} instead of {expected[where].item()!r}"
            f" for {operands}"
        )


def _wrong(outcome: Outcome, got: torch.Tensor, expected: torch.Tensor, inputs: list[torch.Tensor]) -> torch.Tensor:
    """Where the two differ by more than rounding."""
    if not expected.dtype.is_floating_point:
        return got != expected
    a, b = got.double(), expected.double()
    scale = 1.0
    if kind_of_name(outcome.case.name) is Kind.REDUCTION or outcome.case.overload._opname.endswith("_backward"):
        # Not the extremes: against those every error is small.
        sizes = [each.double().abs() for each in inputs]
        scale = max([1.0, *(size[size < 1e4].max().item() for size in sizes if (size < 1e4).any())])
    tolerance = UNITS[expected.dtype] * torch.finfo(expected.dtype).eps
    close = a.isfinite() & b.isfinite() & ((a - b).abs() <= tolerance * (b.abs() + scale))
    return ~(close | (a == b) | (a.isnan() & b.isnan()))
