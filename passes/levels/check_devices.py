"""What `verify-level` asks of memory that is not on the module's target: that the target can reach it."""

from collections.abc import Iterator

from torch_mlir import ir

from dovetail.dialects.dovetail import AllocOp, OwnOp, RefType, TangentOp
from dovetail.dialects.reading import Module, of_class
from dovetail.dialects.target import REACHED_BY
from dovetail.passes.base import fail


def check_devices(module: Module, target: str, pass_name: str) -> None:
    """Raises PassError for memory on a device whose tensors no program for `target` can use.

    Views and what is read lie where their operand does; of `target` itself nothing is said, so that there is one text.
    """
    reached = REACHED_BY[target.partition(":")[0]]
    for op, device in _stated(module):
        if device not in reached:
            expected = " or ".join(f'"{each}"' for each in reached) or "none"
            raise fail(op, pass_name, f'names the device "{device}", expected {expected} at target "{target}"')


def _stated(module: Module) -> Iterator[tuple[ir.Operation | ir.OpView, str]]:
    for name, function_op in module.functions.items():
        types = [*function_op.type.inputs, *function_op.type.results]
        for type_ in types:
            if isinstance(type_, RefType) and type_.device:
                yield function_op, type_.device
        for op in of_class(module.bodies[name], AllocOp, OwnOp, TangentOp):
            view = op.opview
            device = view.device_name if isinstance(view, AllocOp) else view.ref.type.device
            if device:
                yield op, device
