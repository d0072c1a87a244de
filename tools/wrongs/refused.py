"""What eager's kernels refuse by element types."""

import torch
from torch.nn import functional

from dovetail.tools.wrongs.case import Case, Facts


def one_less_a_mask(x):
    return 1 - (x > 0)


def softmax_of_whole_numbers(x):
    return x.int().softmax(0)


def loss_by_narrow_targets(x):
    return functional.cross_entropy(x.expand(3, 3), x.int().abs())


def product_that_nothing_uses(x):
    x.expand(3, 3) @ x.expand(3, 3).int()
    return x * 2


def error(function) -> Facts:
    try:
        function(torch.tensor([1.0, -2.0, 0.0]))
    except (RuntimeError, NotImplementedError) as raised:
        return {"raised": type(raised).__name__}
    return {"raised": "nothing"}


CASES = [
    Case("one_less_a_mask", "`1 - (x > 0)`", one_less_a_mask, (error,)),
    Case("softmax_of_integers", "`x.int().softmax(0)`", softmax_of_whole_numbers, (error,)),
    Case("narrow_targets", "`cross_entropy(scores, targets)`, of int32 targets", loss_by_narrow_targets, (error,)),
    Case(
        "product_that_nothing_uses",
        "`x @ y.int(); return x * 2`, the product is not used",
        product_that_nothing_uses,
        (error,),
    ),
]
