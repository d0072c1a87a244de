"""Results that share memory, or must not, and what the caller does with them."""

import torch

from dovetail.tools.wrongs.case import Case, Facts, gradient_of


def linear_and_flat(x, weight):
    y = torch.nn.functional.linear(x, weight)
    return y, y.view(-1)


def one_scaled_other_differentiated(function) -> Facts:
    x, weight = torch.ones(1, 2, 2), torch.ones(2, 2, requires_grad=True)
    y, flat = function(x, weight)
    flat.mul_(3)
    y.sum().backward()
    return {"gradient": gradient_of(weight)}


class Tenfold(torch.autograd.Function):
    """A view whose gradient is not that of a view."""

    @staticmethod
    def forward(ctx, x):
        return x.view(-1)

    @staticmethod
    def backward(ctx, gradient):
        return 10 * gradient.view(2, 2)


def with_custom_view(x):
    y = x * 3
    return y, Tenfold.apply(y)


def through_the_custom_view(function) -> Facts:
    x = torch.ones(2, 2, requires_grad=True)
    function(x)[1].sum().backward()
    return {"gradient": gradient_of(x)}


def signs_in_two_layouts(function) -> Facts:
    x = torch.arange(6.0).view(2, 3)
    return {"strides": list(function(x, x.t().contiguous().t()).stride())}


def loss_of_some_labels(function) -> Facts:
    scores, labels = torch.tensor([[0.1, 0.2, 0.4, 0.8]]), torch.tensor([[3, 0, -1, 1]])
    return {"loss": round(function(scores, labels).item(), 4)}


def rest_and_detached(x):
    y = x * 2
    return y[1:], y.detach()


def through_the_rest(function) -> Facts:
    x = torch.ones(2, requires_grad=True)
    function(x)[0].sum().backward()
    return {"gradient": gradient_of(x)}


def write_return_clone(x):
    x[1:] = 5
    return x.clone()


def clone_is_cleared(function) -> Facts:
    x = torch.ones(3)
    function(x).zero_()
    return {"x": x.tolist()}


def scaled_successor(x, weight):
    return (x + 1) * weight


def input_changes_before_backward(function) -> Facts:
    x, weight = torch.zeros(2), torch.ones(2, requires_grad=True)
    y = function(x, weight)
    x.data.add_(1)
    y.sum().backward()
    return {"gradient": gradient_of(weight)}


def shrunk_next_to_the_bound(function) -> Facts:
    return {"results": function(torch.full((16,), 0.1, dtype=torch.bfloat16), 0.1).unique().tolist()}


CASES = [
    Case(
        "sibling_in_place",
        "`y = linear(x, weight); return y, y.view(-1)`, the second is scaled in place, gradient of the first",
        linear_and_flat,
        (one_scaled_other_differentiated,),
    ),
    Case(
        "custom_view",
        "`y = x * 3; return y, Function.apply(y)`, a custom `autograd.Function` that returns a view",
        with_custom_view,
        (through_the_custom_view,),
    ),
    Case(
        "strides_of_copysign",
        "`torch.copysign(x, y)` with `x` laid out by rows and `y` by columns",
        torch.copysign,
        (signs_in_two_layouts,),
    ),
    Case(
        "labels_after_the_last",
        "`multilabel_margin_loss(scores, labels)`, with a label after the first -1",
        torch.nn.functional.multilabel_margin_loss,
        (loss_of_some_labels,),
    ),
    Case(
        "shrunk_in_half_precision",
        "`softshrink(x, 0.1)` of the bfloat16 number next to 0.1, which is greater",
        torch.nn.functional.softshrink,
        (shrunk_next_to_the_bound,),
    ),
    Case(
        "detached_sibling",
        "`y = x * 2; return y[1:], y.detach()`, gradient of the first",
        rest_and_detached,
        (through_the_rest,),
    ),
    Case(
        "clone_of_written",
        "`x[1:] = 5; return x.clone()`, the caller clears the result",
        write_return_clone,
        (clone_is_cleared,),
        upstream=195451,
    ),
    Case(
        "input_changes_before_backward",
        "`return (x + 1) * weight`, `x.data.add_(1)` after the call, then the gradient of `weight`",
        scaled_successor,
        (input_changes_before_backward,),
    ),
]
