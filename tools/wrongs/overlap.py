"""Arguments that overlap in memory in one call and not in another."""

import torch

from dovetail.tools.wrongs.case import Case, Facts, gradient_of


def double_then_add(x, y):
    x.mul_(2)
    return x + y


def disjoint(function) -> Facts:
    return {"result": function(torch.ones(4), torch.ones(4)).tolist()}


def overlapping(function) -> Facts:
    base = torch.arange(6.0)
    return {"result": function(base[:4], base[2:]).tolist()}


def disjoint_then_overlapping(function) -> Facts:
    disjoint(function)
    return overlapping(function)


CAPTURED = torch.ones(3)


def double_then_add_captured(x):
    x.mul_(2)
    return x + CAPTURED


def captured_is_passed_too(function) -> Facts:
    """The second argument is a view of the captured tensor: another object, the same memory."""
    global CAPTURED  # made again where the case makes its other tensors
    CAPTURED = torch.ones(3)
    function(torch.ones(3))
    return {"result": function(CAPTURED[:]).tolist()}


def disjoint_then_overlapping_with_gradient(function) -> Facts:
    apart = torch.ones(6, requires_grad=True)
    function(apart.clone()[:4], apart.clone()[2:]).sum().backward()
    leaf = torch.ones(6, requires_grad=True)
    base = leaf.clone()
    function(base[:4], base[2:]).sum().backward()
    return {"gradient": gradient_of(leaf)}


CASES = [
    Case(
        "overlap_changes",
        "`x.mul_(2); return x + y`, first with disjoint inputs, then with overlapping ones",
        double_then_add,
        (disjoint_then_overlapping,),
        upstream=139789,
    ),
    Case(
        "overlap_changes_across_processes",
        "the same across two processes with one cache on disk, in both orders",
        double_then_add,
        (disjoint, overlapping),
        upstream=178680,
    ),
    Case(
        "overlap_with_captured",
        "`x.mul_(2); return x + CAPTURED`, first with another tensor, then with a view of `CAPTURED`",
        double_then_add_captured,
        (captured_is_passed_too,),
    ),
    Case(
        "overlap_changes_with_gradient",
        "the same as the first, with gradients",
        double_then_add,
        (disjoint_then_overlapping_with_gradient,),
    ),
]
