"""Ops inside of graphs that the function's graph calls."""

import torch
from torch.utils.checkpoint import checkpoint

from dovetail.tools.wrongs.case import Case, Facts, gradient_of


def from_the_start_checkpointed(x):
    return checkpoint(lambda x: x.as_strided((2,), (1,), 0) * 1, x, use_reentrant=False)


def part_then_another(function) -> Facts:
    base = torch.arange(8.0)
    function(base[:4])
    return {"result": function(base[2:6]).tolist()}


def triple_every_other(x):
    y = x * 2
    y.unfold(0, 1, 2).mul_(3)
    return y


def triple_every_other_in_a_branch(x):
    return torch.cond(x.sum() > 0, triple_every_other, lambda x: x * 1, (x,))


def of_ones(function) -> Facts:
    return {"result": function(torch.ones(5)).tolist()}


class TripledGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, gradient):
        return triple_every_other(gradient)


def gradient_of_ones(function) -> Facts:
    x = torch.ones(5, requires_grad=True)
    function(x).sum().backward()
    return {"gradient": gradient_of(x)}


def wave_then_count(x, calls):
    y = x.sin()
    calls.add_(1)
    return y


def calls_counted_in_checkpoint(function) -> Facts:
    x, calls = torch.ones(2, requires_grad=True), torch.zeros(())
    checkpoint(lambda x: function(x, calls), x, use_reentrant=False).sum().backward()
    return {"calls": calls.item()}


def square_of_what_is_written(x):
    doubled = x * 2
    square = checkpoint(lambda x: (x + doubled).square(), x, use_reentrant=False)
    doubled.zero_()
    return square


CASES = [
    Case(
        "storage_offset_in_checkpoint",
        "`x.as_strided((2,), (1,), 0) * 1` inside of `checkpoint`, on one part of a tensor, then on another",
        from_the_start_checkpointed,
        (part_then_another,),
    ),
    Case(
        "windows_in_cond",
        "`y = x * 2; y.unfold(0, 1, 2).mul_(3); return y` inside of `cond`",
        triple_every_other_in_a_branch,
        (of_ones,),
        upstream=198102,
    ),
    Case(
        "windows_in_custom_backward",
        "the same in the backward of an `autograd.Function`",
        TripledGradient.apply,
        (gradient_of_ones,),
        upstream=198102,
    ),
    Case(
        "count_in_checkpointed_call",
        "`y = x.sin(); calls.add_(1); return y`, inside of `checkpoint`, which recomputes up to the last save",
        wave_then_count,
        (calls_counted_in_checkpoint,),
    ),
    Case(
        "written_after_checkpoint",
        "`y = x * 2; z = checkpoint(lambda x: (x + y).square(), x); y.zero_(); return z`, which is recomputed from `y`",
        square_of_what_is_written,
        (gradient_of_ones,),
    ),
]
