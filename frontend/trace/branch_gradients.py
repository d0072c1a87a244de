"""Gradients of `cond` whose branches give whole numbers or truth values beside what has a gradient.

PyTorch traces the backward of a branch for tangents of all that the branch gives, counts those that can have one, and
raises where the numbers differ. Here the backward is that of the results that can have a gradient.
"""

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

# PyTorch's module has the name of the function that `torch._higher_order_ops` exports.
_COND: Any = importlib.import_module("torch._higher_order_ops.cond")


@contextmanager
def branch_gradients() -> Iterator[None]:
    """While it is open, `cond` is traced with such branches.

    PyTorch 2.11 to 2.13 build the backward of a branch with `create_bw_fn` of the module patched here; where there is
    none, whatever PyTorch can't trace runs eagerly.
    """
    made_by = getattr(_COND, "create_bw_fn", None)
    if made_by is None:
        yield
        return
    _COND.create_bw_fn = lambda function, operands: _backward(made_by, function, operands)
    try:
        yield
    finally:
        _COND.create_bw_fn = made_by


def _backward(made_by: Callable[..., Callable], function: Callable, operands: tuple) -> Callable[..., Any]:
    """The backward of `function`: from its operands and a tangent for each result to a gradient for each operand."""
    backward = made_by(lambda *given: list(filter(_is_differentiable, function(*given))), operands)

    def of_differentiable(*operands_and_tangents):
        given, tangents = operands_and_tangents[: len(operands)], operands_and_tangents[len(operands) :]
        return backward(*given, *filter(_is_differentiable, tangents))

    return of_differentiable


def _is_differentiable(value: object) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())
