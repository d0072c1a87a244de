"""What an op of a program does besides giving its results, so that it can't be run again, or left out."""

import torch
from torch_mlir import ir

from dovetail.backends.python.operators import overload
from dovetail.dialects.calls import is_extern
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.torch_facts.ops import aten_name


def is_random(op: ir.Operation) -> bool:
    """Whether `op` draws random numbers."""
    is_kernel = is_extern(op) and not control_flow_name(op)
    return is_kernel and torch.Tag.nondeterministic_seeded in overload(aten_name(op)).tags


def mutates(op: ir.Operation) -> bool:
    """Whether `op` writes memory that it is given."""
    return is_extern(op) and not control_flow_name(op) and overload(aten_name(op))._schema.is_mutable


def has_effect(op: ir.Operation) -> bool:
    """Whether the library call `op` does either, or may, or returns nothing."""
    if control_flow_name(op):
        return True
    return is_random(op) or mutates(op) or not overload(aten_name(op))._schema.returns
