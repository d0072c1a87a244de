"""What a program asks of an argument's history: whether it is a leaf, or a view, or has a `grad_fn`."""

from typing import Any

import torch
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.source import AttrSource
from torch._dynamo.variables.tensor import TensorVariable

_ASKED = {
    "_base": GuardBuilder.TYPE_MATCH,
    "grad_fn": GuardBuilder.TYPE_MATCH,
    "is_leaf": GuardBuilder.CONSTANT_MATCH,
}
_UNKNOWN = ("output_nr", "retains_grad")
"""Of which tensors without memory, by which Dynamo traces, know nothing."""


def guard_what_is_asked_of_history() -> None:
    """Has Dynamo trace anew where an argument has another history than the program has asked for.

    It takes the answer for known, and asks no later call's arguments: they would take the branch of the first.
    """
    asked: Any = TensorVariable.var_getattr

    def var_getattr(self: Any, tx: Any, name: str) -> Any:
        if self.source and self.source.subguards_allowed():
            if name in _UNKNOWN:
                return self.dynamic_getattr(tx, name)
            if name in _ASKED:
                install_guard(self.make_guard(GuardBuilder.TYPE_MATCH))
                install_guard(AttrSource(self.source, name).make_guard(_ASKED[name]))
            if name == "grad_fn":  # of an argument without one, since the program may have written it one
                value = self.proxy.node.meta["example_value"]
                self.has_grad_fn |= isinstance(value, torch.Tensor) and value.grad_fn is not None
        return asked(self, tx, name)

    if asked.__module__ != __name__:
        TensorVariable.var_getattr = var_getattr  # type: ignore[method-assign]  # there is no setting
