"""What must not be handed to IREE: element types and ops that it refuses, or compiles to wrong numbers.

Measured with IREE 3.13.0; `make sweep` runs the op sweep behind it.
"""

from collections.abc import Sequence

from dovetail.dialects.torch_types import TensorInfo

# Float64 versions of these call libm functions that the linker does not find.
_TRANSCENDENTAL = frozenset(
    "acos acosh asin asinh atan atan2 atanh celu cos cosh digamma elu erf erfc erfinv exp exp2 expm1 gelu "
    "gelu_backward hypot lgamma log log10 log1p log2 log_sigmoid_forward logit logsumexp mish pow sigmoid silu sin "
    "sinh softplus tan tanh xlogy _softmax _log_softmax".split()
)
_DTYPES = frozenset("bool int8 int16 int32 int64 uint8 float16 bfloat16 float32 float64".split())
_WRONG = {"aten.logcumsumexp.default": "miscompiled: inf instead of a finite sum"}


def refusal(name: str, tensors: Sequence[TensorInfo | None]) -> str:
    """Why IREE can't compile the ATen op `name` on tensors like these, or "" if it can."""
    if name in _WRONG:
        return _WRONG[name]
    for info in tensors:
        if info is None:
            continue
        if info.dtype not in _DTYPES:
            return f"element type {info.dtype} can't be imported"
    base = name.split(".")[1] if name.count(".") >= 1 else name
    if base in _TRANSCENDENTAL and any(info is not None and info.dtype == "float64" for info in tensors):
        return "float64 transcendental functions do not link"
    return ""
