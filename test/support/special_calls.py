"""How each op that is decomposed is called: from what makes operands, by sizes, to its results."""

from collections.abc import Callable
from functools import partial

import torch

aten = torch.ops.aten

PLACES = (4, 32)  # full vectors: in the remainder after them, kernels compare NaN otherwise
LABELS = torch.tensor([[0, 3, -1, 1, 1, 1, 1, 1], [-1] * 8, [0, 1, 2, 3, 4, 5, 6, 7], [5, -1, 5, 5, 5, 5, 5, 5]])
CLASSES = torch.tensor([1, 2, -100, 7])
WHOLE = (torch.int8, torch.int16, torch.int32, torch.int64)


def _gradient(v, reduction: int, *sizes: int) -> torch.Tensor:
    return v(*sizes) if reduction == 0 else v(1)[0]


def _shares(v) -> torch.Tensor:
    return v(4, 8).nan_to_num().clamp(0, 1)


def _elementwise(op, operands: int = 1, *given, **named) -> Callable:
    return lambda v: op(*(v(*PLACES) for _ in range(operands)), *given, **named)


def _loss(op, *given) -> list[Callable]:
    return [lambda v, r=r: op(v(4, 8), v(4, 8), r, *given) for r in range(3)]


def _loss_backward(op, *given) -> list[Callable]:
    return [lambda v, r=r: op(_gradient(v, r, 4, 8), v(4, 8), v(4, 8), r, *given) for r in range(3)]


def _nll(v, backward: bool, reduction: int, has_weight: bool, plane: tuple[int, ...]):
    forward = aten.nll_loss2d_forward if plane else aten.nll_loss_forward
    value, weight = v(4, 8, *plane), v(8) if has_weight else None
    target = CLASSES.view(4, *[1] * len(plane)).expand(4, *plane).contiguous()
    if not backward:
        return forward(value, target, weight, reduction, -100)
    gradient = _gradient(v, reduction, *target.shape)
    of = aten.nll_loss2d_backward if plane else aten.nll_loss_backward
    return of(gradient, value, target, weight, reduction, -100, v.constant(3.0))


def _each_nll(backward: bool, plane: tuple[int, ...] = ()) -> list[Callable]:
    options = [(reduction, has_weight) for reduction in range(3) for has_weight in (False, True)]
    return [partial(_nll, backward=backward, reduction=r, has_weight=w, plane=plane) for r, w in options]


def _of_rows(op: Callable) -> list[Callable]:
    """Rows of one number and of many, and columns."""
    return [lambda v: op(v(4, 1)), lambda v: op(v(4, 8)), lambda v: op(v(8, 4).t())]


def _padded(op, dims: int) -> Callable:
    return lambda v: op(v(2, 3, *(5, 4, 3)[:dims]), [1, 2, 1, 0, 1, 1][: 2 * dims])


def _pad_backward(op, backward, sizes, pad) -> Callable:
    return lambda v: backward(v(*op(torch.empty(sizes), pad).shape), v(*sizes), pad)


# Sizes of images and weights, stride and padding, where each result sees the same pixels.
WINDOWS = [((4, 3, 2, 2), (5, 3, 3, 3), (1, 1), (1, 1)), ((4, 3, 4), (5, 3, 3), (4,), (1,))]


def _convolution(v, images, weights, stride, padding):
    return aten.convolution(v(*images), v(*weights), v(weights[0]), stride, padding, *_plain(stride))


def _convolution_backward(v, images, weights, stride, padding):
    made = aten.convolution(torch.empty(images), torch.empty(weights), None, stride, padding, *_plain(stride))
    given = v(*made.shape), v(*images), v(*weights), [weights[0]]
    return aten.convolution_backward(*given, stride, padding, *_plain(stride), [True] * 3)


def _whole_numbers(dtype: torch.dtype) -> torch.Tensor:
    """Small ones, some of them negative, and those whose outermost bits are set, or are not."""
    limits = torch.iinfo(dtype)
    return torch.tensor([0, 1, -1, 7, -100, limits.min, limits.min + 1, limits.max - 1, limits.max], dtype=dtype)


def _shifted_by(dtype: torch.dtype) -> list[int]:
    """Regions shift by less than the width; by others, and by less than 0, eager shifts as far as it can."""
    bits = torch.iinfo(dtype).bits
    return [0, 1, bits - 1, bits, -1]


def _shift(op) -> list[Callable]:
    """Of whole numbers that are made beforehand: a conversion of `v`'s numbers in the call would be decomposed, too."""
    each = [(_whole_numbers(dtype), by) for dtype in WHOLE for by in _shifted_by(dtype)]
    return [lambda v, value=value, by=by: op(value, by) for value, by in each]


def _shift_by_tensor(op) -> list[Callable]:
    each = [(_whole_numbers(dtype)[:, None], torch.tensor(_shifted_by(dtype), dtype=dtype)) for dtype in WHOLE]
    return [lambda v, value=value, by=by: op(value, by) for value, by in each]


def _plain(stride) -> tuple:
    return [1] * len(stride), False, [0] * len(stride), 1


CALLS: dict[str, list[Callable]] = {
    "mse_loss": _loss(aten.mse_loss),
    "mse_loss_backward": _loss_backward(aten.mse_loss_backward),
    "smooth_l1_loss": [*_loss(aten.smooth_l1_loss, 0.7), *_loss(aten.smooth_l1_loss, 0.0)],
    "smooth_l1_loss_backward": [
        *_loss_backward(aten.smooth_l1_loss_backward, 0.7), *_loss_backward(aten.smooth_l1_loss_backward, 0.0)],
    "huber_loss": _loss(aten.huber_loss, 0.7),
    "huber_loss_backward": _loss_backward(aten.huber_loss_backward, 0.7),
    "soft_margin_loss": _loss(aten.soft_margin_loss),
    "soft_margin_loss_backward": _loss_backward(aten.soft_margin_loss_backward),
    "binary_cross_entropy": [
        lambda v, r=r: aten.binary_cross_entropy(_shares(v), _shares(v), None, r) for r in range(3)],
    "binary_cross_entropy_backward": [
        lambda v, r=r: aten.binary_cross_entropy_backward(
            _gradient(v, r, 4, 8), _shares(v), _shares(v), v(4, 8), r) for r in range(3)],
    "binary_cross_entropy_with_logits": [
        lambda v, r=r: aten.binary_cross_entropy_with_logits(v(4, 8), v(4, 8), v(4, 8), v(8), r) for r in range(3)],
    "nll_loss_forward": _each_nll(False),
    "nll_loss_backward": _each_nll(True),
    "nll_loss2d_forward": _each_nll(False, (2, 3)),
    "nll_loss2d_backward": _each_nll(True, (2, 3)),
    "addr": [lambda v: aten.addr(v(3, 4), v(3), v(4)), lambda v: aten.addr(v(3, 4), v(3), v(4), beta=0, alpha=0.5)],
    "baddbmm": [lambda v: aten.baddbmm(v(2, 3, 4), v(2, 3, 5), v(2, 5, 4), beta=0)],
    "mv": [lambda v: aten.mv(v(3, 4), v(4)), lambda v: aten.mv(v(3, 0), v(0))],
    "dot": [lambda v: aten.dot(v(4), v(4))],
    "glu": [lambda v: aten.glu(v(4, 8), 1)],
    "glu_backward": [lambda v: aten.glu_backward(v(4, 4), v(4, 8), 1)],
    "aminmax": _of_rows(lambda x: aten.aminmax(x, dim=1)),
    "max.dim": _of_rows(lambda x: aten.max.dim(x, 1)),
    "min.dim": _of_rows(lambda x: aten.min.dim(x, 1)),
    "max": _of_rows(aten.max.default),
    "min": _of_rows(aten.min.default),
    "argmin": _of_rows(lambda x: aten.argmin(x, 1)),
    "prelu": [lambda v: aten._prelu_kernel(v(4, 8), v(1, 8))],
    "prelu_backward": [lambda v: aten._prelu_kernel_backward(v(4, 8), v(4, 8), v(1, 8))],
    "renorm": _of_rows(lambda x: aten.renorm(x, 2, 0, 1.0)),
    "softmax": _of_rows(lambda x: aten._softmax(x, -1, False)),
    "safe_softmax": _of_rows(lambda x: aten._safe_softmax(x, -1)),
    "safe_softmax to half": _of_rows(lambda x: aten._safe_softmax(x, -1, torch.float16)),
    "log_softmax": _of_rows(lambda x: aten._log_softmax(x, -1, False)),
    "softmax_backward": [lambda v: aten._softmax_backward_data(v(4, 8), v(4, 8).softmax(1), 1, v.made)],
    "logsumexp": _of_rows(lambda x: aten.logsumexp(x, [-1])),
    "nansum": _of_rows(lambda x: aten.nansum(x, [1])),
    "prod": _of_rows(lambda x: aten.prod.dim_int(x, 1)),
    "prod of all": _of_rows(aten.prod.default),
    "sum": _of_rows(lambda x: aten.sum.dim_IntList(x, [1])),
    "mean": _of_rows(lambda x: aten.mean.dim(x, [1])),
    "mean of all": _of_rows(aten.mean.default),
    "var": _of_rows(lambda x: aten.var.correction(x, [1])),
    "var_mean": _of_rows(lambda x: aten.var_mean.correction(x, [1])),
    "std": _of_rows(lambda x: aten.std.correction(x, [1], correction=0)),
    "std_mean": _of_rows(lambda x: aten.std_mean.correction(x, [1])),
    **{f"norm of order {order}": _of_rows(partial(lambda x, p: aten.linalg_vector_norm(x, p, [1]), p=order))
       for order in (0, 0.5, 1, 2, 3, -1, float("inf"))},
    "weight_norm": [lambda v: aten._weight_norm_interface(v(8, 5), v(8, 1), 0)],
    "layer_norm": [lambda v: aten.native_layer_norm(v(4, 8), [8], v(8), v(8), 1e-5)],
    "layer_norm_backward": [lambda v: aten.native_layer_norm_backward(
        v(4, 8), v(4, 8), [8], v.constant(0.1, 4, 1), v.constant(1.3, 4, 1), v(8), v(8), [True] * 3)],
    "batch_norm": [lambda v: aten.native_batch_norm(v(8, 3, 2), v(3), v(3), None, None, True, 0.1, 1e-5),
        lambda v: aten._native_batch_norm_legit.no_stats(v(8, 3, 2), v(3), v(3), True, 0.1, 1e-5)],
    # The running statistics are others in half precision, by PyTorch's rule of their types.
    "batch_norm with statistics": [lambda v: aten._native_batch_norm_legit_functional(
        v(8, 3, 2), v(3), v(3), v(3), v(3).abs(), True, 0.1, 1e-5)[:3]],
    "batch_norm_backward": [lambda v: aten.native_batch_norm_backward(
        v(8, 3, 2), v(8, 3, 2), v(3), None, None, v.constant(0.1, 3), v.constant(1.3, 3), True, 1e-5, [True] * 3)],
    "group_norm": [lambda v: aten.native_group_norm(v(2, 6, 8), v(6), v(6), 2, 6, 8, 3, 1e-5)],
    "group_norm_backward": [lambda v: aten.native_group_norm_backward(
        v(2, 6, 8), v(2, 6, 8), v.constant(0.1, 2, 3), v.constant(1.3, 2, 3), v(6), 2, 6, 8, 3, [True] * 3)],
    "convolution": [lambda v, each=each: _convolution(v, *each) for each in WINDOWS],
    "convolution_backward": [lambda v, each=each: _convolution_backward(v, *each) for each in WINDOWS],
    "reflection_pad": [_padded(aten.reflection_pad1d, 1), _padded(aten.reflection_pad2d, 2)],
    "replication_pad": [_padded(aten.replication_pad1d, 1), _padded(aten.replication_pad3d, 3)],
    "reflection_pad1d_backward": [
        _pad_backward(aten.reflection_pad1d, aten.reflection_pad1d_backward, (2, 3, 5), [1, 2])],
    "constant_pad": [lambda v: aten.constant_pad_nd(v(4, 8), [2, -1, -1, 3], float("inf"))],
    "im2col": [lambda v: aten.im2col(v(1, 2, 5, 4), [2, 2], [1, 1], [1, 1], [1, 1])],
    "index_add": [lambda v: aten.index_add(v(4, 8), 0, torch.tensor([1, 1, 3]), v(3, 8), alpha=0.5)],
    "index_copy": [lambda v: aten.index_copy(v(4, 8), 0, torch.tensor([1, 0, 3]), v(3, 8))],
    "index_fill": [lambda v: aten.index_fill(v(4, 8), 0, torch.tensor([1, 0, 3]), float("nan"))],
    "dropout_backward": [lambda v: aten.native_dropout_backward(v(4, 8), torch.arange(32).view(4, 8) % 3 == 0, 2.0)],
    "celu": [_elementwise(aten.celu, 1, 0.5)],
    "elu": [_elementwise(aten.elu, 1, 0.5, 2.0, 1.5)],
    "elu_backward": [
        lambda v, of=of: aten.elu_backward(v(*PLACES), 0.5, 2.0, 1.5, of, v(*PLACES)) for of in (False, True)],
    "softplus": [_elementwise(aten.softplus)],
    "softshrink": [_elementwise(aten.softshrink)],
    "softshrink_backward": [_elementwise(aten.softshrink_backward, 2, 0.5)],
    "hardshrink": [_elementwise(aten.hardshrink)],
    "hardshrink_backward": [_elementwise(aten.hardshrink_backward, 2, 0.5)],
    "hardtanh_backward": [_elementwise(aten.hardtanh_backward, 2, -0.5, 1.0)],
    "hardswish": [_elementwise(aten.hardswish)],
    "hardswish_backward": [_elementwise(aten.hardswish_backward, 2)],
    "hardsigmoid_backward": [_elementwise(aten.hardsigmoid_backward, 2)],
    "leaky_relu_backward": [_elementwise(aten.leaky_relu_backward, 2, 0.1, False)],
    "leaky_relu": [_elementwise(aten.leaky_relu, 1, slope) for slope in (0.1, float("inf"))],
    "threshold": [_elementwise(aten.threshold, 1, 0.5, 2.0)],
    "threshold_backward": [_elementwise(aten.threshold_backward, 2, 0.5)],
    "sigmoid_backward": [_elementwise(aten.sigmoid_backward, 2)],
    "tanh_backward": [_elementwise(aten.tanh_backward, 2)],
    "silu": [_elementwise(aten.silu)],
    "silu_backward": [_elementwise(aten.silu_backward, 2)],
    "mish": [_elementwise(aten.mish)],
    "logit": [_elementwise(aten.logit), _elementwise(aten.logit, 1, 0.1)],
    "logit_backward": [_elementwise(aten.logit_backward, 2), _elementwise(aten.logit_backward, 2, 0.1)],
    "log_sigmoid": [lambda v: aten.log_sigmoid_forward(v(*PLACES))[0]],
    "logaddexp": [_elementwise(aten.logaddexp, 2)],
    "xlogy": [
        _elementwise(aten.xlogy.Tensor, 2),
        _elementwise(aten.xlogy.Scalar_Other, 1, 0.3),
        lambda v: aten.xlogy.Scalar_Self(0.3, v(*PLACES)),
    ],
    "angle": [_elementwise(aten.angle)],
    "sinc": [_elementwise(aten.sinc)],
    "entr": [_elementwise(aten.special_entr)],
    "nan_to_num": [_elementwise(aten.nan_to_num), _elementwise(aten.nan_to_num, 1, 1.0, 2.0, -2.0)],
    "maximum": [_elementwise(aten.maximum, 2)],
    "minimum": [_elementwise(aten.minimum, 2)],
    "fmax": [_elementwise(aten.fmax, 2)],
    "fmin": [_elementwise(aten.fmin, 2)],
    "hardtanh": [_elementwise(aten.hardtanh, 1, -0.5, 1.0)],
    **{f"comparison {name}": [_elementwise(getattr(aten, name).Scalar, 1, number) for number in (0.3, 0.0, 1e39)]
       for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "clamp": [_elementwise(aten.clamp, 1, -0.5, 1.0), _elementwise(aten.clamp.Tensor, 3)],
    "heaviside": [_elementwise(aten.heaviside, 2)],
    "sgn": [_elementwise(aten.sgn)],
    "frac": [_elementwise(aten.frac)],
    "lerp": [_elementwise(aten.lerp.Scalar, 2, 0.3)],
    "addcdiv": [_elementwise(aten.addcdiv, 3, value=0.5)],
    "pow": [_elementwise(aten.pow.Tensor_Scalar, 1, power) for power in (-2, -0.5, 0.5, 2, 3)],
    "floor_divide": [_elementwise(aten.floor_divide, 2)],
    "remainder": [_elementwise(aten.remainder.Scalar, 1, divisor) for divisor in (0.7, 0.0)],
    "pow of a number": [lambda v, base=base: aten.pow.Scalar(base, v(4, 8)) for base in (0.3, 2.0)],
    "div by a number": [
        lambda v, r=r: aten.div.Tensor_mode(v(4, 8), 0.7, rounding_mode=r) for r in ("floor", "trunc")],
    "atanh": [_elementwise(aten.atanh)],
    **{f"shift by a number, {op}": _shift(op)
       for op in (aten.__lshift__.Scalar, aten.__rshift__.Scalar,
                  aten.bitwise_left_shift.Tensor_Scalar, aten.bitwise_right_shift.Tensor_Scalar)},
    **{f"shift by a tensor, {op}": _shift_by_tensor(op) for op in (aten.__lshift__.Tensor, aten.__rshift__.Tensor)},
}  # fmt: skip
