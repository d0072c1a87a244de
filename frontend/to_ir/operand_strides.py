"""How eager's operands of an FX node's op lie in memory: the statement that opaque ops make in the IR."""

from collections.abc import Mapping, Sequence

import torch
from torch_mlir import ir

from dovetail.dialects.attributes import STRIDES
from dovetail.dialects.statements.operand_strides import Stated, is_opaque, strides_attribute
from dovetail.frontend.observe.bound_arguments import bound, schema
from dovetail.frontend.observe.operand_layouts import strides_of
from dovetail.frontend.to_ir.open_numbers import OpenNumbers


def state_strides(
    op: ir.Operation,
    target: torch._ops.OpOverload,
    args: Sequence,
    kwargs: Mapping,
    seen: Sequence[Stated] | None,
    open_: OpenNumbers,
) -> None:
    """Makes `op`, if it is opaque, state the strides of its operands: those `seen` in eager, else the traced ones.

    What is in memory, an `ir.Value` in place of a node, has strides of its own.
    """
    if not is_opaque(op):
        return
    given = bound(target, args, kwargs)
    traced = [strides_of(given.get(argument.name)) for argument in schema(target)]
    eager = traced if seen is None else seen
    stated = [None if fake is None else strides for strides, fake in zip(eager, traced, strict=True)]
    op.attributes[STRIDES] = strides_attribute([open_.strides(strides) for strides in stated])
