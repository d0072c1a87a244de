"""Whole numbers that no affine expression says: what is rounded once."""

import math
from collections.abc import Sequence
from typing import Any

import sympy  # type: ignore[import-untyped]  # it has no stubs
import torch
from torch_mlir import ir

from dovetail.dialects.sizes.size_expressions import materialise
from dovetail.frontend.to_ir.building import torch_op

_ROUNDINGS = (math.trunc, math.floor, math.ceil)


def says_more(node: torch.fx.Node) -> bool:
    """Whether `node` computes such a number, and PyTorch's expression for it says what Python computes.

    That is so of a number that is given, and of one operator on whole numbers and constants, rounded once: sympy takes
    two roundings for one.
    """
    rounded = node.args[0] if node.target in _ROUNDINGS else None
    made = rounded.meta.get("val") if isinstance(rounded, torch.fx.Node) else None
    if not isinstance(rounded, torch.fx.Node) or not isinstance(made, torch.SymFloat):
        return False
    if made.node.expr.is_Symbol:
        return True
    given = [argument.meta["val"] if isinstance(argument, torch.fx.Node) else argument for argument in rounded.args]
    exact = [node for node in rounded.all_input_nodes if node.target is not torch.sym_float]
    if any(isinstance(node.meta["val"], torch.SymFloat) for node in exact):
        return False
    return set(map(_expression, given)) == set(made.node.expr.args)


def _expression(number: Any) -> sympy.Expr:
    return number.node.expr if isinstance(number, torch.SymInt | torch.SymFloat) else sympy.sympify(number)


def computed_whole(target: Any, operands: Sequence[ir.Value]) -> ir.Value:
    """The value that Python's `target` makes of a number."""
    if target is math.trunc:
        return torch_op("torch.aten.Int.float", "int", *operands)
    if target is math.ceil:
        return torch_op("torch.aten.ceil.float", "int", *operands)
    turned = torch_op("torch.aten.neg.float", "float", *operands)
    return _negative(torch_op("torch.aten.ceil.float", "int", turned))


def _negative(number: ir.Value) -> ir.Value:
    return materialise(ir.AffineExpr.get_symbol(0) * -1, {0: number})
