"""`@layouts`: how operands in the backward lie, by how the caller's gradients do.

It takes some tangents, then other values, and returns values: only their strides mean something, and it runs on tensors
without memory. Its ops are those of eager's backward, each a `torch.operator`, so no pass takes one for a computation.
"""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import TANGENT_OF
from dovetail.dialects.reading import Module, Role, argument_facts


def layouts_of(module: Module | None) -> func.FuncOp | None:
    """The function that tells of a module how operands lie, None where no tangent counts."""
    return module.the(Role.LAYOUTS) if module is not None and Role.LAYOUTS in module else None


def tangents_of(layouts: func.FuncOp) -> list[int]:
    """The owned results whose gradients `layouts` takes as its first arguments, in order."""
    return [ir.IntegerAttr(each[TANGENT_OF]).value for each in argument_facts(layouts) if TANGENT_OF in each]


def followed_tangents(module: Module | None) -> set[int]:
    """The owned results of whose gradients it counts how they lie."""
    layouts = layouts_of(module)
    return set() if layouts is None else set(tangents_of(layouts))
