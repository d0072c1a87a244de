"""Reads whether a backward can run from some of a call's results; its function is loaded when it is first needed."""

from collections.abc import Callable
from functools import cache

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python.emitter import Emitter
from dovetail.dialects.reading import Module, body, copy_attributes
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.statements.devices import module_beside
from dovetail.dialects.statements.effects import has_effect
from dovetail.dialects.statements.layouts import layouts_of
from dovetail.runtime.autograd.partial_backward import PartialBackward
from dovetail.runtime.replaying.absent_tangents import leave_out
from dovetail.runtime.replaying.inlining import inlined


def read_partial_backward(backward: func.FuncOp, saved: int, module: Module) -> PartialBackward:
    """That of `backward`, of which the arguments from number `saved` on are tangents."""
    has_effects = any(is_extern(op) and has_effect(op) for op in body(backward))

    @cache
    def load(absent: frozenset[int]) -> Callable:
        with backward.context, ir.Location.unknown():
            beside = module_beside(backward)  # the function is gone where nobody holds it
            with ir.InsertionPoint(beside.body):
                made = func.FuncOp("gradient", ir.FunctionType.get(list(backward.type.inputs), []))
            copy_attributes(backward, made, "arg_attrs", "res_attrs")
            given = list(made.add_entry_block().arguments)
            with ir.InsertionPoint(made.body.blocks[0]):
                func.ReturnOp(inlined(backward, given, module))
            leave_out(made, given[saved:], absent)
            return Emitter(made, {}, has_layouts=layouts_of(module) is not None).emit().load()

    return PartialBackward(len(backward.type.inputs) - saved > 1 and not has_effects, load)
