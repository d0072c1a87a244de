"""Decompositions, ours and PyTorch's, give what ATen's kernels do of infinities, NaN, zeros, huge and equal numbers."""

from itertools import chain

import pytest
import torch
from special_calls import CALLS
from special_values import CONSTANT, KINDS, Decomposed, Operands, wrong

from dovetail.frontend.decompose.mixed_types import MIXED_TYPES
from dovetail.frontend.decompose.replacements import REPLACEMENTS

aten = torch.ops.aten

_MEAN = "eager's mean, taken in one pass, is mostly NaN where an infinity takes part"
_ORDER = "infinite products and differences meet in another order"
_ROUNDING = "products are added up in another order, which rounds and overflows in another way"
_CANCELS = "numbers cancel to what rounding left of them"

# Replaced for whole numbers, truth values or other types alone, one that is only met in a graph of PyTorch's own, and
# two that take no tensor.
_OTHER_NUMBERS = (
    aten._to_copy.default,
    aten.add.Scalar,
    aten.add.Tensor,
    aten.embedding_dense_backward.default,
    aten.fill.Scalar,
    aten.full.default,
    aten.full_like.default,
    aten.neg.default,
    aten.select_scatter.default,
    aten.slice_scatter.default,
    *MIXED_TYPES,
    aten._batch_norm_with_update_functional.default,
    torch.ops.prims.scalar_tensor.default,
    aten.eye.default,
    aten.eye.m,
)

# Where a decomposition need not agree: by call, the kinds of numbers and why.
ACCEPTED: dict[str, tuple[tuple[str, ...], str]] = {
    "soft_margin_loss_backward": (("special", "infinite", "huge"), "eager's exponential overflows to NaN"),
    "var_mean": (("special", "infinite"), _MEAN),
    "std_mean": (("special", "infinite"), _MEAN),
    "layer_norm": (("special", "infinite", "huge"), _MEAN),
    "group_norm": (("special", "infinite"), _MEAN),
    "layer_norm_backward": (("special", "infinite", "huge", "equal"), _ORDER),
    "convolution": (("special", "infinite", "huge"), _ROUNDING),
    "convolution_backward": (("special", "infinite", "huge"), _ROUNDING),
    "prod of all": (("special",), _ORDER),
    "batch_norm_backward": (("equal",), _CANCELS),
    "group_norm_backward": (("special", "infinite", "equal"), _ORDER),
    "softmax_backward": (("equal",), _CANCELS),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.filterwarnings("ignore:.*degrees of freedom", "ignore:.*resized")
def test_as_aten(name, dtype):
    """A loss's gradient was NaN where nothing was asked of a number, and labels counted that ATen passes over."""
    kinds = [each for each in KINDS if each not in ACCEPTED.get(name, ((), ""))[0]]
    found = {
        (index, kind, seed): text
        for index, call in enumerate(CALLS[name])
        for kind in kinds
        for seed in range(2 if dtype is torch.float32 and kind not in CONSTANT else 1)
        if (text := wrong(call, dtype, kind, seed))
    }
    assert not found


def test_each_replacement_is_compared():
    """A replacement that no call meets could give anything of NaN."""
    met = set()
    for call in chain.from_iterable(CALLS.values()):
        for dtype in (torch.float32, torch.bfloat16):
            with Decomposed() as mode:
                call(Operands(dtype, "normal", 0))
            met |= mode.met
    assert set(REPLACEMENTS) - met == set(_OTHER_NUMBERS)
