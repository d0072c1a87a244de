"""Activation functions and their gradients, where eager's kernels differ from what IREE or PyTorch makes of them."""

import math
from collections.abc import Callable

import torch

from dovetail.dialects.torch_facts.empty import is_empty
from dovetail.dialects.torch_facts.kernel_layouts import KERNELS
from dovetail.dialects.torch_facts.rounding import rounded
from dovetail.frontend.decompose.precision import HALF_PRECISION

aten = torch.ops.aten


def _hardtanh(value: torch.Tensor, min_val: float = -1, max_val: float = 1) -> torch.Tensor:
    return torch.clamp(value, min_val, max_val) if value.is_floating_point() else NotImplemented


def _hardtanh_backward(gradient: torch.Tensor, value: torch.Tensor, min_val: float, max_val: float) -> torch.Tensor:
    """Eager gives NaN no gradient, but on GPUs."""
    wide = _unrounded(value)
    if _is_for_gpu(value):
        return torch.where((wide <= min_val) | (wide >= max_val), 0.0, gradient)
    return torch.where((wide > min_val) & (wide < max_val), gradient, 0.0)


def _threshold(value: torch.Tensor, threshold: float, fill: float) -> torch.Tensor:
    """IREE rounds whole numbers to floating-point ones, and drops NaN."""
    return torch.where(_up_to(value, threshold), fill if value.is_floating_point() else int(fill), value)


def _threshold_backward(gradient: torch.Tensor, value: torch.Tensor, threshold: float) -> torch.Tensor:
    return torch.where(_up_to(value, threshold), 0, gradient)


def _up_to(value: torch.Tensor, threshold: float) -> torch.Tensor:
    if not value.is_floating_point():
        return value <= int(threshold)
    return _unrounded(value) <= _as_held(value, threshold)


def _leaky_relu(value: torch.Tensor, slope: float = 0.01) -> torch.Tensor:
    """IREE multiplies what is not negative by the slope, too: an infinite one makes NaN of it."""
    return torch.where(value > 0, value, value * slope)


def _elu(value: torch.Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> torch.Tensor:
    """IREE computes exp(x) - 1, which rounds small numbers away."""
    if not value.is_floating_point():
        return NotImplemented
    wide = _unrounded(value)
    negative = torch.expm1(wide * input_scale) * (alpha * scale)
    return torch.where(wide < 0, negative, wide * scale).to(value.dtype)


def _celu(value: torch.Tensor, alpha: float = 1) -> torch.Tensor:
    """As in eager, which multiplies by the reciprocal."""
    return aten.elu(value, alpha, 1, 1 / alpha)


def _softshrink(value: torch.Tensor, lambd: float = 0.5) -> torch.Tensor:
    """A zero without a sign, as the vectors of eager's kernel give it."""
    if not value.is_floating_point():
        return NotImplemented
    wide, lambd = _unrounded(value), _as_held(value, lambd)
    moved = torch.where(wide > lambd, wide - lambd, torch.where(wide < -lambd, wide + lambd, 0.0))
    return torch.where(wide.isnan(), wide, moved).to(value.dtype)


def _hardshrink(value: torch.Tensor, lambd: float = 0.5) -> torch.Tensor:
    """PyTorch's form, whose gradient would be taken of its parts; here it is that of the op."""
    return torch.where(value.abs() <= lambd, 0, value)


def _shrink_backward(gradient: torch.Tensor, value: torch.Tensor, lambd: float) -> torch.Tensor:
    """0 for NaN, as the vectors of eager's kernel give it; on GPUs the gradient."""
    if _is_for_gpu(value):
        return torch.where((value >= -lambd) & (value <= lambd), 0.0, gradient)
    return torch.where((value > lambd) | (value < -lambd), gradient, 0.0)


def _hardsigmoid_backward(gradient: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Eager's sixth is a float32 number in float64 too, where ATen computes it."""
    if value.dtype is torch.float64:
        return NotImplemented
    return torch.where((value > -3) & (value < 3), gradient * (1 / 6), 0.0)


def _safe_softmax(value: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    """0 in rows of nothing but -inf, which their maximum tells: PyTorch asks each element, and reduces the answers.

    It asks before it converts to `dtype`, so what becomes -inf by that is none.
    """
    if is_empty(value) or not value.is_floating_point() or dtype not in (None, value.dtype):
        return NotImplemented
    wide = value.to(torch.float32) if value.dtype in HALF_PRECISION else value
    largest = wide.amax(dim, keepdim=True)
    is_masked = largest == -math.inf
    powers = torch.exp(wide - torch.where(is_masked, 0.0, largest))
    return torch.where(is_masked, 0.0, powers / powers.sum(dim, keepdim=True)).to(value.dtype)


def _unrounded(value: torch.Tensor) -> torch.Tensor:
    """`value`, half precision as float32, in which eager's kernels compute with numbers and compare with them.

    The operators that compare, such as `>`, round the number to half precision first.
    """
    return value.to(torch.float32) if value.dtype in HALF_PRECISION else value


def _as_held(value: torch.Tensor, number: float) -> float:
    """`number` as eager's kernel compares `value` with it and takes it away: on GPUs rounded to half precision."""
    is_rounded = value.dtype in HALF_PRECISION and _is_for_gpu(value)
    return rounded(number, str(value.dtype).removeprefix("torch.")) if is_rounded else number


def _is_for_gpu(value: torch.Tensor) -> bool:
    return KERNELS.get(value.device.type) == "cuda"


ACTIVATIONS: dict[torch._ops.OpOverload, Callable] = {
    aten.hardtanh.default: _hardtanh,
    aten.hardtanh_backward.default: _hardtanh_backward,
    aten.threshold.default: _threshold,
    aten.threshold_backward.default: _threshold_backward,
    aten.leaky_relu.default: _leaky_relu,
    aten.elu.default: _elu,
    aten.celu.default: _celu,
    aten.softshrink.default: _softshrink,
    aten.hardshrink.default: _hardshrink,
    aten.softshrink_backward.default: _shrink_backward,
    aten.hardshrink_backward.default: _shrink_backward,
    aten.hardsigmoid_backward.default: _hardsigmoid_backward,
    aten._safe_softmax.default: _safe_softmax,
}
