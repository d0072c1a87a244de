"""Which torch ops our own code computes."""

from collections.abc import Callable, Mapping

from dovetail.backends.elementary.ceiling import ceil
from dovetail.backends.elementary.error_function import erf
from dovetail.backends.elementary.exponential import exp, expm1, sigmoid
from dovetail.backends.elementary.hyperbolic import tanh
from dovetail.backends.elementary.inverse import asin
from dovetail.backends.elementary.logarithm import log, log1p, log2
from dovetail.backends.elementary.scalar import Scalar
from dovetail.backends.elementary.trigonometric import cos, sin, tan

FUNCTIONS: Mapping[str, Callable[[Scalar], Scalar]] = {
    "torch.aten.asin": asin,
    "torch.aten.cos": cos,
    "torch.aten.erf": erf,
    "torch.aten.exp": exp,
    "torch.aten.expm1": expm1,
    "torch.aten.log": log,
    "torch.aten.log1p": log1p,
    "torch.aten.log2": log2,
    "torch.aten.sigmoid": sigmoid,
    "torch.aten.sin": sin,
    "torch.aten.tan": tan,
    "torch.aten.tanh": tanh,
}
"""Of float32 and half precision."""

OF_DOUBLES: Mapping[str, Callable[[Scalar], Scalar]] = {"torch.aten.ceil": ceil}
"""Of float64."""
