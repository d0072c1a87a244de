"""`@layouts`: how operands in the backward lie, by how the caller's gradients do.

It takes some tangents, then other values, and returns values: only their strides mean something, and it runs on tensors
without memory. Its ops are those of eager's backward, each a `torch.operator`, so no pass takes one for a computation.
"""

from torch_mlir.dialects import func

from dovetail.dialects.reading import Module, Role
from dovetail.dialects.statements.saved import tangent_results


def layouts_of(module: Module | None) -> func.FuncOp | None:
    """The function that tells of a module how operands lie, None where no tangent counts."""
    return module.the(Role.LAYOUTS) if module is not None and Role.LAYOUTS in module else None


def followed_tangents(module: Module | None) -> set[int]:
    """The owned results of whose gradients it counts how they lie."""
    layouts = layouts_of(module)
    return set() if layouts is None else set(tangent_results(layouts))
