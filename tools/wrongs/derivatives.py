"""Derivatives of what is infinite, in half precision, by custom ops, and in other ways than one backward."""

import torch
from torch.autograd import forward_ad

from dovetail.tools.wrongs.case import Case, Facts, gradient_of
from dovetail.tools.wrongs.gradients import cube


def wave_and_logarithm(x):
    return x.sin(), x.log()


def gradient_of_the_wave(function) -> Facts:
    x = torch.zeros(2, requires_grad=True)
    function(x)[0].sum().backward()
    return {"gradient": gradient_of(x)}


def root_and_floor(x):
    return x.sqrt(), x.floor()


def gradient_of_the_floor(function) -> Facts:
    x = torch.zeros(2, requires_grad=True)
    function(x)[1].sum().backward()
    return {"gradient": gradient_of(x)}


def largest_of_scaled(x):
    return (x * 1.1).amax(0)


def gradient_in_half_precision(function) -> Facts:
    x = torch.tensor([[1.0, 2.0], [3.0, 0.5]], dtype=torch.bfloat16, requires_grad=True)
    function(x).sum().backward()
    return {"gradient": gradient_of(x)}


@torch.library.custom_op("dovetail_wrongs::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@torch.library.custom_op("dovetail_wrongs::stride_of", mutates_args=())
def stride_of(gradient: torch.Tensor) -> torch.Tensor:
    return torch.full_like(gradient, float(gradient.stride(0)), memory_format=torch.contiguous_format)


double.register_fake(torch.empty_like)
stride_of.register_fake(torch.empty_like)
double.register_autograd(lambda _, gradient: stride_of(gradient))


def double_and_transpose(x):
    return double(x).t()


def gradient_by_its_stride(function) -> Facts:
    x = torch.ones(2, 3, requires_grad=True)
    function(x).backward(torch.ones(3, 2))
    return {"gradient": gradient_of(x)}


def derivative_in_a_direction(function) -> Facts:
    with forward_ad.dual_level():
        result = function(forward_ad.make_dual(torch.full((2,), 2.0), torch.ones(2)))
        tangent = forward_ad.unpack_dual(result).tangent
    return {"derivative": None if tangent is None else tangent.tolist()}


def jacobian_in_forward_mode(function) -> Facts:
    x = torch.tensor([1.0, 2.0])
    jacobian = torch.autograd.functional.jacobian(function, x, vectorize=True, strategy="forward-mode")
    return {"Jacobian": jacobian.tolist()}


def jacobian_of_batched_gradients(function) -> Facts:
    x = torch.tensor([1.0, 2.0])
    return {"Jacobian": torch.autograd.functional.jacobian(function, x, vectorize=True).tolist()}


CASES = [
    Case(
        "absent_gradient_times_infinity",
        "`return x.sin(), x.log()` at 0, a backward from the first",
        wave_and_logarithm,
        (gradient_of_the_wave,),
    ),
    Case(
        "gradient_of_zeros",
        "`return x.sqrt(), x.floor()` at 0, a backward from the second",
        root_and_floor,
        (gradient_of_the_floor,),
    ),
    Case(
        "compared_with_the_largest",
        "`return (x * 1.1).amax(0)` in bfloat16: the gradient goes where the product is equal to the result",
        largest_of_scaled,
        (gradient_in_half_precision,),
    ),
    Case(
        "gradient_in_its_layout",
        "`return double(x).t()`, a custom op whose gradient tells the stride of what it is given",
        double_and_transpose,
        (gradient_by_its_stride,),
    ),
    Case(
        "derivative_in_a_direction",
        "`x**3` of a dual tensor of `torch.autograd.forward_ad`",
        cube,
        (derivative_in_a_direction,),
    ),
    Case(
        "jacobian_in_forward_mode",
        '`torch.autograd.functional.jacobian(..., vectorize=True, strategy="forward-mode")` of `x**3`',
        cube,
        (jacobian_in_forward_mode,),
    ),
    Case(
        "jacobian_of_batched_gradients",
        "`torch.autograd.functional.jacobian(..., vectorize=True)` of `x**3`",
        cube,
        (jacobian_of_batched_gradients,),
    ),
]
