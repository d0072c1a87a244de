"""What `verify-level` asks of the ops in a function: that each belongs there, and says what it must.

Library calls that are given memory for their results: that these fit it.
"""

from collections.abc import Sequence

import numpy
from torch_mlir import ir

from dovetail.dialects.attributes import FALLBACK, RECOMPUTE
from dovetail.dialects.calls import is_extern, written
from dovetail.dialects.operand_strides import broken_statement
from dovetail.dialects.reading import Module, Role, made_by, role
from dovetail.dialects.recompute import RECOMPUTED_POLICIES, SAVED_POLICIES
from dovetail.dialects.torch_facts.arithmetic import ARITHMETIC
from dovetail.dialects.torch_facts.names import LIST, LOAD
from dovetail.dialects.torch_facts.ops import Kind, aten_name, kind
from dovetail.dialects.torch_facts.out_overloads import out_overload
from dovetail.dialects.torch_facts.types import TensorInfo, require_tensor_info, shaped_info, tensor_info
from dovetail.passes.base import fail
from dovetail.passes.rewriting.cloning import FROM_PYTHON
from dovetail.passes.rewriting.constants import integer

_DIALECTS = ("dovetail", "torch", "func")
# Torch ops that compute nothing: Python's values, and the border to a region's memory.
_PASSED = (*FROM_PYTHON, LOAD)
# From here on the host computes nothing itself: it calls, and makes views.
_HOST_LEVELS = ("program", "regions", "launches")


def check_ops(name: str, ops: Sequence[ir.Operation], allowed: set[str], level: str) -> None:
    """Raises PassError for one of the `ops` of `@name` that is not of the level's language.

    `allowed` are the ops of ours, by name, that may stand there, beside arithmetic of numbers.
    """
    for op in ops:
        dialect = op.name.partition(".")[0]
        if dialect not in _DIALECTS:
            raise fail(op, f"has no place in '@{name}', expected an op of {', '.join(_DIALECTS)}")
        if dialect == "dovetail" and op.name not in allowed and op.name not in ARITHMETIC:
            raise fail(op, f"has no place in '@{name}' at level '{level}'")
        if FALLBACK in op.attributes and not (is_extern(op) and isinstance(op.attributes[FALLBACK], ir.UnitAttr)):
            raise fail(op, f"expects '{FALLBACK}', without a value, on library calls alone")
        if dialect == "torch" and level in _HOST_LEVELS and _computes(op):
            raise fail(op, f"computes in '@{name}' at level '{level}', expected a call or a view")


def check_region_ops(ops: Sequence[ir.Operation]) -> None:
    """Raises PassError for one of the `ops` of a region that IREE knows nothing of."""
    for op in ops:
        if op.name.startswith("dovetail.") or is_extern(op):
            raise fail(op, "has no place in a region, which IREE compiles")


def check_attributes(module: Module) -> None:
    """Raises PassError for an op that nobody obeys, or that would be given whatever layout a kernel or a pass left.

    `dovetail.recompute` is one of the policies, on torch ops of `@joint` alone, where something is still partitioned.
    `dovetail.strides` is stated by what may see how its operands lie in memory.
    """
    for name, ops in module.bodies.items():
        stated = role(module.functions[name])
        is_joint = stated is Role.JOINT
        for op in ops:
            is_torch = op.name.startswith("torch.")
            if RECOMPUTE in op.attributes:
                if not (is_joint and is_torch):
                    raise fail(op, f"in '@{name}' expects no '{RECOMPUTE}', which is for torch ops of '@joint'")
                _check_policy(op, op.attributes[RECOMPUTE])
            broken = broken_statement(op) if is_torch and stated is not Role.LAYOUTS else ""
            if broken:
                raise fail(op, broken)


def _check_policy(op: ir.Operation, stated: ir.Attribute) -> None:
    policies = (*RECOMPUTED_POLICIES, *SAVED_POLICIES)
    if not isinstance(stated, ir.StringAttr) or stated.value not in policies:
        valid = ", ".join(f'"{word}"' for word in policies)
        raise fail(op, f"expects '{RECOMPUTE}' to be one of {valid}, got {stated}")


def _computes(op: ir.Operation) -> bool:
    return op.name not in _PASSED and not is_extern(op) and kind(op) not in (Kind.VIEW, Kind.CONSTANT)


def check_written(ops: Sequence[ir.Operation]) -> None:
    """Raises PassError for one of the `ops` whose result is of another shape than the memory that it is written to.

    PyTorch would give that memory another shape, or leave some of it unset.
    """
    for op in ops:
        memory = written(op)
        if memory is None:
            continue
        name = aten_name(op) or ""
        if name == "aten.cat.default":
            is_fit = _joins(op, require_tensor_info(memory.type))
        elif kind(op) is Kind.POINTWISE and out_overload(name) is not None:
            is_fit = _shape(op) == require_tensor_info(memory.type).shape
        else:
            raise fail(op, "writes to memory, expected aten.cat or a pointwise op with an overload 'out'")
        if not is_fit:
            raise fail(op, f"writes to '{memory.type}', expected memory of the shape of its result")


def _shape(op: ir.Operation) -> tuple[int, ...] | None:
    """That of what a pointwise op computes; None for operands that don't go together, or of open sizes."""
    infos = [tensor_info(each.type) for each in list(op.operands)[:-1] if shaped_info(each.type) is not None]
    try:
        return None if None in infos else numpy.broadcast_shapes(*(each.shape for each in infos if each is not None))
    except ValueError:
        return None


def _joins(cat: ir.Operation, memory: TensorInfo) -> bool:
    """Whether tensors of the memory's element type, joined along a known dimension, have its shape."""
    listed, dim, rank = made_by(cat.operands[0], LIST), integer(cat.operands[1]), len(memory.shape)
    if listed is None or dim is None or not -rank <= dim < rank:
        return False
    infos = [tensor_info(each.type) for each in listed.operands]
    shapes = [each.shape for each in infos if each is not None and each.dtype == memory.dtype]
    if len(shapes) != len(infos) or any(len(each) != rank for each in shapes):
        return False
    lengths = [each[dim] for each in shapes]
    others = {each[: dim % rank] + each[dim % rank + 1 :] for each in shapes}
    return sum(lengths) == memory.shape[dim] and others == {memory.shape[: dim % rank] + memory.shape[dim % rank + 1 :]}
