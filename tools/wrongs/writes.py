"""In-place writes: what is read before, must be read before."""

import torch

from dovetail.tools.wrongs.case import Case, Facts

SIZE = 1000
"""Elements: enough for a kernel to work in blocks."""


def shift(x):
    x[1:].copy_(x[:-1].clone())


def shifted_by_one(function) -> Facts:
    x = torch.arange(SIZE)
    function(x)
    return {"wrong elements": (x[1:] != torch.arange(SIZE - 1)).sum().item()}


def copy_then_count_up(target, source):
    target[:] = source[:]
    source.add_(1)


def copied_before(function) -> Facts:
    target, source = torch.zeros(3), torch.arange(3.0)
    function(target, source)
    return {"target": target.tolist()}


def read_bits_then_write(x):
    bits = x.view(torch.int32) * 2
    bits.sub_(-4)
    x[1:] = 8
    return bits.view(torch.int64)


def read_before(function) -> Facts:
    return {"low bits": (function(torch.arange(3)) % 2**32).tolist()}


def double_every_other(x):
    x.unfold(0, 1, 2).mul_(2)


def others_are_kept(function) -> Facts:
    x = torch.ones(5)
    function(x)
    return {"x": x.tolist()}


def double_behind_idle_dropout(x):
    y = torch.nn.functional.dropout(x, training=False)
    y.mul_(2)
    return x + 1


def argument_itself(function) -> Facts:
    x = torch.ones(2)
    return {"result": function(x).tolist(), "x": x.tolist()}


CASES = [
    Case("shifted_write", f"`x[1:].copy_(x[:-1].clone())` on {SIZE} elements", shift, (shifted_by_one,)),
    Case(
        "copy_then_write",
        "`target[:] = source[:]; source.add_(1)`",
        copy_then_count_up,
        (copied_before,),
        upstream=198131,
    ),
    Case(
        "bits_then_write",
        "`bits = x.view(torch.int32) * 2; bits.sub_(-4); x[1:] = 8; return bits.view(torch.int64)`",
        read_bits_then_write,
        (read_before,),
        upstream=198101,
    ),
    Case(
        "write_through_gaps",
        "`x.unfold(0, 1, 2).mul_(2)`: every other element",
        double_every_other,
        (others_are_kept,),
        upstream=198102,
    ),
    Case(
        "write_behind_idle_dropout",
        "`y = dropout(x, training=False); y.mul_(2); return x + 1`",
        double_behind_idle_dropout,
        (argument_itself,),
    ),
]
