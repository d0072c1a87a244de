"""Which views one line of the user's program makes, and which tensors it writes or gives other sizes."""

from collections.abc import Sequence

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._python_dispatch import is_traceable_wrapper_subclass_type as is_wrapper_type
from torch.utils._pytree import tree_leaves

from dovetail.errors import UnsupportedError
from dovetail.frontend.observe.alias_groups import memory, share_elements
from dovetail.frontend.observe.kernel_layouts import as_kernel_lays_out
from dovetail.frontend.observe.view_chains import ViewCall, key

# Ops that write arguments without saying so, if the argument `flag` is true: its name, and theirs.
_UNMARKED_WRITES = {
    torch.ops.aten.native_batch_norm.default: ("training", ("running_mean", "running_var")),
    torch.ops.aten.cudnn_batch_norm.default: ("training", ("running_mean", "running_var")),
    torch.ops.aten.miopen_batch_norm.default: ("training", ("running_mean", "running_var")),
}


class Calls(TorchDispatchMode):
    """Notes which views were made, and which tensors written or given other sizes, since it was last cleared."""

    supports_higher_order_operators = True

    def __init__(self):
        super().__init__()
        self.views: list[ViewCall] = []
        self.written: list[torch.Tensor] = []
        self.reshaped: list[torch.Tensor] = []

    def clear(self) -> None:
        self.views, self.written, self.reshaped = [], [], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if any(map(is_wrapper_type, types)):
            return NotImplemented  # what it does to the tensors inside comes here again
        schema = func._schema.arguments if isinstance(func, torch._ops.OpOverload) else ()
        reshapes = isinstance(func, torch._ops.OpOverload) and torch.Tag.inplace_view in func.tags
        given = {argument.name: value for argument, value in zip(schema, args, strict=False)} | (kwargs or {})
        flag, unmarked = _UNMARKED_WRITES.get(func, ("", ()))
        unmarked = unmarked if given.get(flag) else ()
        for argument in schema:
            is_written = argument.name in unmarked or (argument.alias_info is not None and argument.alias_info.is_write)
            for each in tree_leaves(given.get(argument.name)) if is_written else ():
                if isinstance(each, torch.Tensor):
                    (self.reshaped if reshapes else self.written).append(each)
        _check_overlaps(func, given, schema)
        source = key(args[0]) if args and isinstance(args[0], torch.Tensor) else None
        result = as_kernel_lays_out(func, args, kwargs or {}, func(*args, **(kwargs or {})))
        if source is not None and schema and schema[0].alias_info is not None and not schema[0].alias_info.is_write:
            parts = result if isinstance(result, list | tuple) else [result]
            self.views += [
                ViewCall(func, source, key(part), (*args[1:], *(kwargs or {}).values()), index)
                for index, part in zip(range(len(parts)) if parts is result else [-1], parts, strict=True)
                if isinstance(part, torch.Tensor)
            ]
        return result


def _check_overlaps(func, given: dict, schema: Sequence) -> None:
    """Raises where an op reads memory that it writes, but not in place: eager refuses most such ops."""
    tensors = [
        (argument.alias_info is not None and argument.alias_info.is_write, each)
        for argument in schema
        for each in tree_leaves(given.get(argument.name))
        if isinstance(each, torch.Tensor)
    ]
    for is_written, target in tensors:
        for _, other in tensors if is_written else ():
            differs = memory(other) == memory(target) and key(other)[1:] != key(target)[1:]
            if differs and share_elements(target, other):
                raise UnsupportedError(f"{func} reads a part of what it writes")
