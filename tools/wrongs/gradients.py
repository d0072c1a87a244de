"""Gradients through mutation and views."""

import torch

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
]
