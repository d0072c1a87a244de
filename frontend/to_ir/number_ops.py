"""Ops on numbers that are open: what Python's operators make of them, as the IR computes it."""

import math
import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch_mlir import ir

from dovetail.dialects.dovetail.ops.pow import pow_
from dovetail.dialects.dovetail.ops.quotient import quotient
from dovetail.dialects.dovetail.ops.sqrt import sqrt
from dovetail.dialects.torch_facts.types import torch_type
from dovetail.errors import UnsupportedError

# What compares whole numbers, by Python's operator.
_COMPARISONS = {
    operator.ge: "torch.aten.ge.int",
    operator.gt: "torch.aten.gt.int",
    operator.le: "torch.aten.le.int",
    operator.lt: "torch.aten.lt.int",
    operator.eq: "torch.aten.eq.int",
    operator.ne: "torch.aten.ne.int",
}

# What takes the root of an open number, by the names under which Dynamo has it.
_ROOTS = (torch.sym_sqrt, torch._sym_sqrt, math.sqrt)  # type: ignore[attr-defined]  # Dynamo's own name

# Python's operators on numbers of floating point, by the op that computes each.
_OF_FLOATS = {
    operator.add: "torch.aten.add.float",
    operator.sub: "torch.aten.sub.float",
    operator.mul: "torch.aten.mul.float",
    operator.truediv: "torch.aten.div.float",
    operator.neg: "torch.aten.neg.float",
}


def computed(number: torch.SymFloat, target: Any, operands: Sequence[ir.Value]) -> ir.Value:
    """The value that is `number`, which Python's operator `target` makes of others.

    Each operator is one op: an expression of sympy's is simplified as if nothing were rounded, infinite or NaN.
    """
    if target is torch.sym_float:
        return float_of(operands[0])
    if target in _ROOTS:
        return sqrt(float_of(operands[0])).root
    if target is operator.pow:
        return pow_(*map(float_of, operands)).power
    if target not in _OF_FLOATS:
        raise UnsupportedError(f"the number {number} can't be open: the IR has no op for {target.__name__}")
    return _number(_OF_FLOATS[target], *map(float_of, operands))


def eager_quotient(dividend: ir.Value, divisor: ir.Value) -> ir.Value:
    """The value that eager's own backward computes, which divides by 0: Python raises."""
    return quotient(float_of(dividend), float_of(divisor)).quotient


def compared(target: Any, operands: Sequence[ir.Value]) -> ir.Value:
    """The truth value that Python's operator `target` makes of two whole numbers."""
    is_whole = all(each.type == torch_type("int") for each in operands)
    if target not in _COMPARISONS or not is_whole:
        raise UnsupportedError(f"a truth value of open numbers: the IR has no op for {target.__name__} of them")
    return ir.Operation.create(_COMPARISONS[target], results=[torch_type("bool")], operands=operands).result


def _number(name: str, *operands: ir.Value) -> ir.Value:
    return ir.Operation.create(name, results=[torch_type("float")], operands=list(operands)).result


def float_of(number: ir.Value) -> ir.Value:
    """A number as one of floating point."""
    return number if number.type == torch_type("float") else _number("torch.aten.Float.Scalar", number)
