"""Arguments that share memory in every call, one of them mutated."""

import torch

from dovetail.tools.wrongs.case import Case, Facts
from dovetail.tools.wrongs.overlap import double_then_add
from dovetail.tools.wrongs.wrapper import Wrapper


def add_to_base_return_row(base, view):
    base.add_(100)
    return view[0]


def with_an_offset(function) -> Facts:
    base = torch.tensor([[0, 1], [2, 3], [4, 5]])
    return {"result": function(base, base[1:]).tolist()}


def add_to_base_return_flat(base, view):
    base.add_(100)
    return view.view(-1)


def one_tensor_in_two_wrappers(function) -> Facts:
    inner = torch.arange(4)
    return {"result": function(Wrapper(inner), Wrapper(inner)).held.tolist()}


def double_then_return_bits(x, bits):
    x.mul_(2)
    return bits >> 23


def as_floats_and_bits(function) -> Facts:
    x = torch.tensor([1.0, 2.0, 4.0])
    return {"exponents": function(x, x.view(torch.int32)).tolist()}


def add_to_base_return_view(base, view):
    base.add_(100)
    return view


def is_the_view_itself(function) -> Facts:
    base = torch.tensor([[0, 1], [2, 3], [4, 5]])
    view = base[1:]
    return {"returns its argument": function(base, view) is view}


CASES = [
    Case(
        "base_with_offset_row",
        "`base.add_(100); return view[0]` with `view = base[1:]`",
        add_to_base_return_row,
        (with_an_offset,),
        upstream=198095,
    ),
    Case(
        "base_with_offset_flat",
        "`base.add_(100); return view.view(-1)` with `view = base[1:]`",
        add_to_base_return_flat,
        (with_an_offset,),
        upstream=198095,
    ),
    Case(
        "below_subclasses",
        "`x.mul_(2); return x + y` with two wrapper subclasses around one tensor",
        double_then_add,
        (one_tensor_in_two_wrappers,),
        upstream=114415,
    ),
    Case(
        "different_dtypes",
        "`x.mul_(2); return bits >> 23` with `bits = x.view(torch.int32)`",
        double_then_return_bits,
        (as_floats_and_bits,),
    ),
    Case(
        "identity",
        "`base.add_(100); return view` with `view = base[1:]`: the very object",
        add_to_base_return_view,
        (is_the_view_itself,),
    ),
]
