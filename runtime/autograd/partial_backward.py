"""The backward from some of a call's results alone, without what the others' absent gradients would be multiplied with.

What only they reach is left out of `@backward`, which then runs op by op through ATen.
"""

import warnings
from collections.abc import Callable

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python.emitter import Emitter
from dovetail.dialects.calls import is_extern
from dovetail.dialects.devices import module_beside
from dovetail.dialects.layouts import layouts_of
from dovetail.dialects.reading import Module, body, copy_attributes
from dovetail.errors import EagerWarning
from dovetail.runtime.autograd.absent_tangents import leave_out
from dovetail.runtime.autograd.effects import has_effect
from dovetail.runtime.autograd.inlining import inlined
from dovetail.runtime.stats import current

_REASON = "a backward from some results met infinite values, and ran again op by op"


class PartialBackward:
    """`@backward` of `module`, of which the arguments from number `saved` on are tangents, for any of them absent.

    `is_possible` says whether there may be one: several tangents, and nothing that has an effect, a branch or a loop.
    """

    def __init__(self, module: ir.Module, backward: func.FuncOp, saved: int, found: Module):
        self._module = module  # its functions are gone where nobody holds it
        self._backward, self._saved, self._found = backward, saved, found
        self._loaded: dict[frozenset[int], Callable] = {}
        effects = any(is_extern(op) and has_effect(op) for op in body(backward))
        self.is_possible = len(backward.type.inputs) - saved > 1 and not effects

    def __call__(self, values: list, absent: frozenset[int], told: tuple) -> tuple:
        """The gradients, zeros where only tangents that are `absent` (by number) give one; `told` is by the border."""
        if absent not in self._loaded:
            self._loaded[absent] = self._load(absent)
        current().eager[_REASON] += 1
        warnings.warn(f"dovetail runs a backward eagerly: {_REASON}", EagerWarning, stacklevel=2)
        with torch.no_grad(), torch._C._DisableAutocast():
            return self._loaded[absent](values, *told)

    def _load(self, absent: frozenset[int]) -> Callable:
        with self._backward.context, ir.Location.unknown():
            module = module_beside(self._backward)
            with ir.InsertionPoint(module.body):
                made = func.FuncOp("gradient", ir.FunctionType.get(list(self._backward.type.inputs), []))
            copy_attributes(self._backward, made, "arg_attrs")
            block = made.add_entry_block()
            with ir.InsertionPoint(block):
                func.ReturnOp(inlined(self._backward, list(block.arguments), self._found))
            leave_out(made, list(block.arguments)[self._saved :], absent)
            return Emitter(made, {}, has_layouts=layouts_of(self._found) is not None).emit().load()
