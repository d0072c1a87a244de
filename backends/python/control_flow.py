"""Branches and loops in Python: what emitted functions call for the ops of `dialects.control_flow`."""

from collections.abc import Callable

import torch


def run_cond(then: Callable, otherwise: Callable, predicate, operands: list) -> tuple:
    """Results of `then` or `otherwise`, which take one list, each in memory of its own."""
    before = tuple(operands)
    return separate((then if predicate else otherwise)(operands), before)


def run_while_loop(condition: Callable, body: Callable, carried: list, others: list) -> tuple:
    """The carried values after as many runs of `body` as `condition` allows, in memory of their own."""
    before = (*carried, *others)
    while condition([*carried, *others])[0]:
        carried = list(body([*carried, *others]))
    return separate(tuple(carried), before)


def separate(results: tuple, operands: tuple) -> tuple:
    """`results`, those copied that lie in the memory of an operand or of another result, or are a part of more.

    A function of values may return its argument, one value twice, or a view; who gets the results may own them.
    """
    taken = {_storage(operand) for operand in operands if isinstance(operand, torch.Tensor)}
    separated = []
    for result in results:
        if isinstance(result, torch.Tensor):
            is_part = result.untyped_storage().nbytes() != result.numel() * result.itemsize
            result = result.clone() if _storage(result) in taken or is_part else result
            taken.add(_storage(result))
        separated.append(result)
    return tuple(separated)


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata
