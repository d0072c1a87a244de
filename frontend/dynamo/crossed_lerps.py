"""`_foreach_lerp_` whose lists share memory: eager goes from tensor to tensor, and reads what it has written."""

from collections.abc import Sequence
from typing import Any

import torch
from torch._dynamo.variables.lists import BaseListVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable


def keep_crossed_lerps() -> None:
    """Has Dynamo leave such a call as it is; it makes several ops of it, which read all before they write.

    Then the graph would compute other numbers than eager, whoever runs it.
    """
    handlers = TorchInGraphFunctionVariable._get_handlers()
    asked: Any = handlers.get(torch._foreach_lerp_)  # not of each version

    def handle(variable: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
        return None if _are_crossed(args[:2]) else asked(variable, tx, *args, **kwargs)

    if asked is not None and asked.__module__ != __name__:
        handlers[torch._foreach_lerp_] = handle


def _are_crossed(lists: Sequence) -> bool:
    """Whether a tensor in the first list shares memory with another one there, or with one in the second list.

    Or may, for all that Dynamo says of them.
    """
    if len(lists) < 2 or not all(isinstance(each, BaseListVariable) for each in lists):
        return True
    written, ends = ([_memory(each.as_proxy()) for each in tensors.items] for tensors in lists)
    return len({*written}) < len(written) or not {*written}.isdisjoint(ends)


def _memory(tensor: Any) -> int | None:
    """What tells the memory of a tensor that Dynamo traces."""
    value = tensor.node.meta["example_value"] if isinstance(tensor, torch.fx.Proxy) else None
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None
