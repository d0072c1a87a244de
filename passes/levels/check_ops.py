"""What `verify-level` asks of the ops in a function: that each belongs there, and says what it must.

Library calls that are given memory for their results: that these fit it.
"""

from collections.abc import Sequence

from torch_mlir import ir

from dovetail.dialects.attributes import FALLBACK, RECOMPUTE
from dovetail.dialects.building.cloning import FROM_PYTHON
from dovetail.dialects.reading import Module, Role, made_by, role
from dovetail.dialects.statements.calls import is_extern, written
from dovetail.dialects.statements.operand_strides import broken_statement
from dovetail.dialects.statements.recompute import RECOMPUTED_POLICIES, SAVED_POLICIES
from dovetail.dialects.torch_facts.arithmetic import ARITHMETIC
from dovetail.dialects.torch_facts.in_regions import broken_gather, broken_sizes, may_stand_in_regions
from dovetail.dialects.torch_facts.names import LIST, LOAD, STORE
from dovetail.dialects.torch_facts.ops import Kind, aten_name, kind, row
from dovetail.dialects.torch_facts.out_overloads import out_overload
from dovetail.dialects.torch_facts.row import WritesInto
from dovetail.dialects.torch_facts.sizes import OpenSize
from dovetail.dialects.torch_facts.types import ShapedInfo, require_shaped_info, shaped_info
from dovetail.passes.base import fail
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


def check_region_ops(ops: Sequence[ir.Operation], device: str) -> None:
    """Raises PassError for one of the `ops` of a region that regions of a type of `device` don't compute.

    Where a library checks positions, IREE's code does not: it would read or write any memory.
    """
    for op in ops:
        if op.name in (*_PASSED, STORE, "func.return"):
            continue
        if may_stand_in_regions(op, device):
            if broken := broken_sizes(op):
                raise fail(op, broken)
            continue
        broken = broken_gather(op) if device == "cuda" else ""
        raise fail(op, broken or "has no place in a region, which IREE compiles")


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
                valid = [f'"{word}"' for word in (*RECOMPUTED_POLICIES, *SAVED_POLICIES)]
                if str(op.attributes[RECOMPUTE]) not in valid:
                    expected = f"expects '{RECOMPUTE}' to be one of {', '.join(valid)}"
                    raise fail(op, f"{expected}, got {op.attributes[RECOMPUTE]}")
            broken = broken_statement(op) if is_torch and stated is not Role.LAYOUTS else ""
            if broken:
                raise fail(op, broken)


def _computes(op: ir.Operation) -> bool:
    return op.name not in _PASSED and not is_extern(op) and kind(op) not in (Kind.VIEW, Kind.CONSTANT)


def check_written(ops: Sequence[ir.Operation]) -> None:
    """Raises PassError for one of the `ops` whose result is of another shape than the memory that it is written to.

    PyTorch would give that memory another shape, or leave some of it unset. Of what is open, the join finds out.
    """
    for op in ops:
        memory = written(op)
        if memory is None:
            continue
        info = require_shaped_info(memory.type)
        match row(op).writes_into:
            case WritesInto.JOIN:
                is_fit = _joins(op, info)
            case WritesInto.FILL:
                listed = made_by(op.operands[0], LIST)
                is_fit = listed is not None and _may_be([integer(size) for size in listed.operands], info.shape)
            case WritesInto.ADD_ROWS | WritesInto.SCATTER:
                is_fit = _holds_base(op, info)
            case WritesInto.PRODUCT:
                is_fit = _is_product(op, info)
            case WritesInto.NOT:
                if kind(op) is not Kind.POINTWISE or out_overload(aten_name(op) or "") is None:
                    raise fail(
                        op,
                        "writes to memory, expected aten.cat, full, index_add, mm or slice_scatter, "
                        "or a pointwise op with an overload 'out'",
                    )
                is_fit = _may_be(_shape(op), info.shape)
        if not is_fit:
            raise fail(op, f"writes to '{memory.type}', expected memory of the shape of its result")


def _holds_base(op: ir.Operation, memory: ShapedInfo) -> bool:
    base = shaped_info(op.operands[0].type)
    return base is not None and base.dtype == memory.dtype and _may_be(base.shape, memory.shape)


def _is_product(op: ir.Operation, memory: ShapedInfo) -> bool:
    left, right = (shaped_info(operand.type) for operand in list(op.operands)[:2])
    if left is None or right is None or len(left.shape) != 2 or len(right.shape) != 2:
        return False
    return left.dtype == right.dtype == memory.dtype and _may_be((left.shape[0], right.shape[1]), memory.shape)


def _may_be(shape: Sequence[OpenSize] | None, other: Sequence[OpenSize]) -> bool:
    """Whether the sizes are the same, as far as they are known."""
    if shape is None or len(shape) != len(other):
        return False
    return all(one == size or None in (one, size) for one, size in zip(shape, other, strict=True))


def _shape(op: ir.Operation) -> list[OpenSize] | None:
    """That of what a pointwise op computes; None for operands that don't go together."""
    shapes = [info.shape for operand in list(op.operands)[:-1] if (info := shaped_info(operand.type)) is not None]
    rank = max(map(len, shapes), default=0)
    whole = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    taken = [set(sizes) - {1} for sizes in zip(*whole, strict=True)]
    known = [sizes - {None} for sizes in taken]
    if any(len(sizes) > 1 for sizes in known):
        return None
    return [next(iter(each), None if sizes else 1) for each, sizes in zip(known, taken, strict=True)]


def _joins(cat: ir.Operation, memory: ShapedInfo) -> bool:
    """Whether tensors of the memory's element type, joined along a known dimension, have its shape."""
    listed, dim, rank = made_by(cat.operands[0], LIST), integer(cat.operands[1]), len(memory.shape)
    if listed is None or dim is None or not -rank <= dim < rank:
        return False
    infos = [shaped_info(operand.type) for operand in listed.operands]
    shapes = [info.shape for info in infos if info is not None and info.dtype == memory.dtype]
    if len(shapes) != len(infos) or any(len(shape) != rank for shape in shapes):
        return False
    lengths = [size for sizes in shapes if (size := sizes[dim]) is not None]
    total = sum(lengths) if len(lengths) == len(shapes) else None
    dim %= rank
    return all(_may_be([*sizes[:dim], total, *sizes[dim + 1 :]], memory.shape) for sizes in shapes)
