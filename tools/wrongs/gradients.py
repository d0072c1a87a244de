"""Gradients through mutation and views."""

import torch
from torch.autograd import forward_ad

from dovetail.tools.wrongs.case import Case, Facts, gradient_of


def cube(x):
    return x**3


def second_derivative(function) -> Facts:
    x = torch.tensor(2.0, requires_grad=True)
    (first,) = torch.autograd.grad(function(x), x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    return {"second derivative": second.item()}


def scale_then_clear(x, weight):
    y = (x + 1) * weight
    x.zero_()
    return y


def gradient_of_weight(function) -> Facts:
    x, weight = torch.full((2,), 2.0), torch.ones(2, requires_grad=True)
    function(x, weight).sum().backward()
    return {"gradient": gradient_of(weight)}


def gradient_of_weight_where_x_has_one(function) -> Facts:
    x, weight = torch.full((2,), 2.0, requires_grad=True).clone(), torch.ones(2, requires_grad=True)
    function(x, weight).sum().backward()
    return {"gradient": gradient_of(weight)}


def scale_both(a, b):
    a.mul_(2)
    b.mul_(3)


def views_of_one_base(function) -> Facts:
    leaf = torch.ones(4, requires_grad=True)
    base = leaf.clone()
    function(base[:3], base[1:])
    base.sum().backward()
    return {"gradient": gradient_of(leaf)}


def double_then_use_view(x, view):
    x.mul_(2)
    return view + 1


def under_no_grad(function) -> Facts:
    x = torch.ones(4, requires_grad=True).clone()
    with torch.no_grad():
        return {"result": function(x, x[1:]).tolist()}


def flat_under_no_grad(x):
    with torch.no_grad():
        return x.view(-1)


def has_no_grad_fn(function) -> Facts:
    x = torch.ones(2, 2, requires_grad=True) * 2
    return {"has a grad_fn": function(x).grad_fn is not None}


def double_and_sum(x):
    x.mul_(2)
    return x.sum()


def retained_gradient(function) -> Facts:
    x = torch.ones(2, requires_grad=True).clone()
    x.retain_grad()
    function(x).backward()
    return {"retained": gradient_of(x)}


def two_losses(x, weight):
    return x * 3, (weight * 2).exp()


def gradient_of_the_other(function) -> Facts:
    x, weight = torch.ones(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    function(x, weight)[0].sum().backward()
    return {"gradient": gradient_of(weight)}


def one_after_the_other(function) -> Facts:
    x, weight = torch.ones(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    for result in function(x, weight):
        result.sum().backward()
    return {"gradient": gradient_of(weight)}


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
    Case("double_backward", "the gradient of the gradient of `x**3`", cube, (second_derivative,), upstream=91469),
    Case(
        "old_value_in_backward",
        "`y = (x + 1) * weight; x.zero_(); return y`, gradient of `weight`",
        scale_then_clear,
        (gradient_of_weight,),
        upstream=185497,
    ),
    Case(
        "old_value_in_backward_with_gradient",
        "the same where `x` needs a gradient too",
        scale_then_clear,
        (gradient_of_weight_where_x_has_one,),
        upstream=185497,
    ),
    Case(
        "two_views_written",
        "`a.mul_(2); b.mul_(3)` with overlapping views of a base that needs a gradient",
        scale_both,
        (views_of_one_base,),
    ),
    Case(
        "no_grad_outside",
        "`x.mul_(2); return x[1:] + 1` called under `no_grad`, the view passed too, `x` needs a gradient",
        double_then_use_view,
        (under_no_grad,),
    ),
    Case("no_grad_inside", "`with torch.no_grad(): return x.view(-1)`", flat_under_no_grad, (has_no_grad_fn,)),
    Case(
        "retained_gradient",
        "`x.mul_(2); return x.sum()`, after `x.retain_grad()`",
        double_and_sum,
        (retained_gradient,),
    ),
    Case(
        "gradient_of_another_result",
        "`return x * 3, (weight * 2).exp()`, a backward from the first: gradient of `weight`",
        two_losses,
        (gradient_of_the_other,),
    ),
    Case(
        "backward_of_each_result",
        "the same, a backward from the first, then one from the second",
        two_losses,
        (one_after_the_other,),
    ),
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
