"""Whole numbers that no affine expression says: what is rounded once, and absolute values."""

import math
import operator
from collections.abc import Sequence
from typing import Any

import sympy  # type: ignore[import-untyped]  # it has no stubs
import torch
from torch_mlir import ir

from dovetail.dialects.torch_facts.types import torch_type

_ROUNDINGS = (math.trunc, math.floor, math.ceil)


def says_more(node: torch.fx.Node) -> bool:
    """Whether `node` computes such a number, and PyTorch's expression for it says what Python computes.

    That is so of one operator on whole numbers and constants, with one rounding after it: sympy takes two for one.
    """
    if node.target is operator.abs:
        return True
    rounded = node.args[0] if node.target in _ROUNDINGS else None
    made = rounded.meta.get("val") if isinstance(rounded, torch.fx.Node) else None
    if not isinstance(rounded, torch.fx.Node) or not isinstance(made, torch.SymFloat):
        return False
    given = [each.meta["val"] if isinstance(each, torch.fx.Node) else each for each in rounded.args]
    exact = [each for each in rounded.all_input_nodes if each.target is not torch.sym_float]
    if any(isinstance(each.meta["val"], torch.SymFloat) for each in exact):
        return False
    return set(map(_expression, given)) == set(made.node.expr.args)


def _expression(number: Any) -> sympy.Expr:
    return number.node.expr if isinstance(number, torch.SymInt | torch.SymFloat) else sympy.sympify(number)


def computed_whole(target: Any, operands: Sequence[ir.Value]) -> ir.Value:
    """The value that Python's `target` makes of a number."""
    if target is operator.abs:
        return _int("torch.prim.max.int", operands[0], _negative(operands[0]))
    if target is math.trunc:
        return _int("torch.aten.Int.float", *operands)
    if target is math.ceil:
        return _int("torch.aten.ceil.float", *operands)
    turned = ir.Operation.create("torch.aten.neg.float", results=[torch_type("float")], operands=list(operands)).result
    return _negative(_int("torch.aten.ceil.float", turned))


def _negative(number: ir.Value) -> ir.Value:
    less = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), -1)
    one = ir.Operation.create("torch.constant.int", results=[torch_type("int")], attributes={"value": less}).result
    return _int("torch.aten.mul.int", number, one)


def _int(name: str, *operands: ir.Value) -> ir.Value:
    return ir.Operation.create(name, results=[torch_type("int")], operands=list(operands)).result
