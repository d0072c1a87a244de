"""What is handed to IREE: the refusals, and a compiled part of the op sweep (`make sweep` runs all of it)."""

import pytest
import torch

from dovetail.dialects.torch_types import TensorInfo
from dovetail.passes.iree_support import refusal
from dovetail.tools.sweep.cases import Case, all_cases
from dovetail.tools.sweep.check import check, runs_in_eager

# What models use all the time: these must be right, and must stay in regions.
FREQUENT = (
    "abs add addcdiv addcmul amax amin any argmax clamp clamp_min cat clone div eq exp ge gelu gt hardtanh isnan le "
    "leaky_relu log logical_and lt masked_fill max maximum mean minimum mul ne neg pow reciprocal relu rsqrt rsub "
    "sigmoid sign silu sqrt sub sum tanh threshold_backward triu var where _softmax _log_softmax _to_copy"
).split()


def info(dtype: str, *shape: int) -> TensorInfo:
    return TensorInfo(shape, dtype, torch.tensor([], dtype=getattr(torch, dtype)).itemsize)


def frequent_cases(dtype: torch.dtype) -> list[Case]:
    return [
        case for case in all_cases(FREQUENT) if case.dtype is dtype and case.shape == "full" and runs_in_eager(case)
    ]


# Calls that only a library kernel gets right.
LEFT_TO_ATEN = {
    "aten.div.Tensor_mode",
    "aten.div.Scalar_mode",
    "aten.pow.Tensor_Tensor",
    "aten.pow.Tensor_Scalar",
    "aten.pow.Scalar",
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_frequent_ops_are_right_and_compiled(dtype):
    """NaN dropped by a maximum, -inf from a power, half-precision sums: all silent. And a refusal too many is slow."""
    outcomes = check(frequent_cases(dtype), decompose=True)
    assert [f"{outcome.case}: {outcome.failed or outcome.differs}" for outcome in outcomes if outcome.wrong] == []
    refused = {outcome.case.name: outcome.refused for outcome in outcomes if outcome.refused}
    assert {name: reason for name, reason in refused.items() if name not in LEFT_TO_ATEN} == {}


@pytest.mark.parametrize(
    ("name", "tensors", "reason"),
    [
        ("aten.maximum.default", [info("float32", 4)] * 3, "drops NaN"),
        ("aten.sum.dim_IntList", [info("bfloat16", 4, 4), info("bfloat16", 4)], "half precision"),
        ("aten.sin.default", [info("float32", 4)] * 2, "large arguments"),
        ("aten.add.Scalar", [info("uint8", 4)] * 2, "signed"),
        ("aten.gt.Scalar", [info("bool", 4)] * 2, "truth values"),
        ("aten.remainder.Tensor", [info("int64", 4)] * 3, "divisor 0"),
        ("aten.add.Tensor", [info("complex64", 4)] * 3, "can't be imported"),
        ("aten.amax.default", [info("float32"), info("float32")], "0-dim"),
        ("aten.tanh.default", [info("float64", 4)] * 2, "does not link"),
    ],
)
def test_refused(name, tensors, reason):
    """Each of these was compiled to wrong numbers, to a crash, or not at all."""
    assert reason in refusal(name, tensors)


@pytest.mark.parametrize(
    ("name", "tensors"),
    [
        ("aten.maximum.default", [info("int64", 4)] * 3),
        ("aten.gt.Scalar", [info("float32", 4), info("bool", 4)]),
        ("aten.sum.dim_IntList", [info("float32", 4, 4), info("float32", 4)]),
        ("aten._to_copy.default", [info("uint8", 4), info("float32", 4)]),
        ("aten.exp.default", [info("float64", 4)] * 2),
    ],
)
def test_not_refused(name, tensors):
    """A rule that matches too much takes frequent ops out of the regions: a comparison's result is always bool."""
    assert refusal(name, tensors) == ""
