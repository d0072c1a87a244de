"""Sizes that the code which Dynamo makes asks its tensors for, in each call."""

from collections.abc import Sequence
from typing import Any

import torch
from torch._dynamo.bytecode_transformation import create_binary_subscr
from torch._dynamo.callback import callback_handler
from torch._dynamo.source import TensorProperty, TensorPropertySource
from torch._dynamo.variables.torch_function import torch_function_mode_stack_state_mgr
from torch._guards import TracingContext
from torch._subclasses import FakeTensor

_PLAIN = (torch.Tensor, torch.nn.Parameter, FakeTensor)

_compiling: list[bool] = []
"""Holds something while Dynamo makes code for a graph of plain tensors."""


def ask_for_sizes_at_once() -> None:
    """Has Dynamo ask plain tensors for their sizes themselves: 1 of 10 µs of a call with an open size.

    It asks by a function that switches Dynamo off and on again, since what a subclass runs there would be traced; of a
    plain tensor `x.size()[0]` runs C's code alone. An argument to `size` would take half of the time to parse.
    """
    asked: Any = TensorPropertySource.reconstruct

    def reconstruct(self: TensorPropertySource, codegen: Any) -> None:
        if not _compiling or self.prop is not TensorProperty.SIZE or self.idx is None:
            asked(self, codegen)
            return
        codegen(self.base)
        codegen.load_method("size")
        codegen.call_method(0)
        codegen.append_output(codegen.create_load_const(self.idx))
        codegen.append_output(create_binary_subscr())

    if asked.__module__ != __name__:
        TensorPropertySource.reconstruct = reconstruct  # type: ignore[method-assign]  # there is no setting


def tell_that_tensors_are_plain(inputs: Sequence) -> None:
    """Says so of a graph's `inputs`, if it is so, to what `ask_for_sizes_at_once` has put into Dynamo."""
    tensors = (value for value in inputs if isinstance(value, torch.Tensor))
    is_plain = all(type(tensor) in _PLAIN for tensor in tensors) and not torch_function_mode_stack_state_mgr.stack
    if not is_plain or TracingContext.try_get() is None:  # outside of Dynamo nothing would take it back
        return
    _compiling.append(True)
    if _take_back not in callback_handler.end_callbacks:  # a reset of Dynamo takes it away
        callback_handler.register_end_callback(_take_back)


def _take_back(arguments: Any) -> None:
    _compiling.clear()
