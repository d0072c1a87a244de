"""What is true of single ops: the views one line of the user's program makes, what it writes or gives other sizes.

And what of them can't be traced, wherever in the program it stands.
"""

from collections.abc import Sequence

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._python_dispatch import is_traceable_wrapper_subclass_type as is_wrapper_type
from torch.utils._pytree import tree_leaves

from dovetail.dialects.operand_strides import Stated
from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.observe.alias_groups import memory, share_elements
from dovetail.frontend.observe.kernel_layouts import as_kernel_lays_out
from dovetail.frontend.observe.operand_layouts import call_layout
from dovetail.frontend.observe.view_chains import Key, ViewCall, key

# Ops that write arguments without saying so, if the argument `flag` is true: its name, and theirs.
_UNMARKED_WRITES = {
    torch.ops.aten.native_batch_norm.default: ("training", ("running_mean", "running_var")),
    torch.ops.aten.cudnn_batch_norm.default: ("training", ("running_mean", "running_var")),
    torch.ops.aten.miopen_batch_norm.default: ("training", ("running_mean", "running_var")),
}


_WINDOWS = (torch.ops.aten.unfold.default, torch.ops.aten.expand.default)


class Calls(TorchDispatchMode):
    """Notes which views were made, which tensors written or given other sizes, and how opaque ops' operands lie.

    All since the last node began. `written_at` says when anything last was written, by autograd's count of nodes: an
    op's own node comes before, what it saves of its results after it. `addresses_storage` says whether anything relied
    on a place in a storage, since the first.

    Args:
        arguments: the run's. What is written behind a view among them, autograd shows it by `as_strided` of its base.

    Raises:
        UnsupportedError: for an op that can't be traced, naming the node's source line.
    """

    supports_higher_order_operators = True

    def __init__(self, arguments: Sequence = ()):
        super().__init__()
        self.given = [each for each in arguments if isinstance(each, torch.Tensor) and each._base is not None]
        self.views: list[ViewCall] = []
        self.written: list[torch.Tensor] = []
        self.reshaped: list[torch.Tensor] = []
        self.written_at = -1
        self.layouts: list[tuple[str, tuple[Stated, ...]]] = []
        self.addresses_storage = False
        self.node: torch.fx.Node | None = None
        # What is seen through windows, by how; the tensors are kept, so that memory stays what it is.
        self.windows: dict[Key, torch.Tensor] = {}

    def begin(self, node: torch.fx.Node) -> None:
        self.node = node
        self.views, self.written, self.reshaped, self.layouts = [], [], [], []

    @property
    def place(self) -> str:
        """The source line of the present node."""
        return source_line(self.node) if self.node is not None else "before the first line"

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
                    # Batch norm saves its statistics after it has updated the running ones.
                    self.written_at = torch.autograd._get_sequence_nr() - (argument.name in unmarked)
                    if key(each) in self.windows:
                        # Functionalization loses what lies between windows, and adds up what is written twice.
                        raise UnsupportedError(f"{self.place}: a write through `unfold` or `expand` can't be traced")
        self._check_overlaps(func, given, schema)
        self._check_as_strided(func, args)
        layout = call_layout(func, args, kwargs or {})
        self.layouts += [] if layout is None else [layout]
        source = key(args[0]) if args and isinstance(args[0], torch.Tensor) else None
        result = as_kernel_lays_out(func, args, kwargs or {}, func(*args, **(kwargs or {})))
        if source is not None and schema and schema[0].alias_info is not None and not schema[0].alias_info.is_write:
            parts = result if isinstance(result, list | tuple) else [result]
            is_window = func in _WINDOWS or source in self.windows
            self.windows |= {key(part): part for part in parts if is_window and key(part) != source}
            self.views += [
                ViewCall(func, source, key(part), (*args[1:], *(kwargs or {}).values()), index)
                for index, part in zip(range(len(parts)) if parts is result else [-1], parts, strict=True)
                if isinstance(part, torch.Tensor)
            ]
        return result

    def _check_overlaps(self, func, given: dict, schema: Sequence) -> None:
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
                    raise UnsupportedError(f"{self.place}: {func} reads a part of what it writes")

    def _check_as_strided(self, func, args: tuple) -> None:
        """Raises where memory is addressed by its place in the storage and values don't lie there in order."""
        if not isinstance(func, torch._ops.OpOverload) or not func._opname.startswith("as_strided"):
            return
        tensor, *place = args
        if any(each._base is tensor and _place(each) == place for each in self.given) and not self._names_as_strided():
            return
        is_whole = tensor.untyped_storage().nbytes() == tensor.numel() * tensor.itemsize
        if not (tensor.is_contiguous() and is_whole):
            raise UnsupportedError(f"{self.place}: as_strided of a tensor that is not all of its memory in order")
        self.addresses_storage = True

    def _names_as_strided(self) -> bool:
        """Whether the user's own line does."""
        target = self.node.target if self.node is not None else None
        return getattr(target, "__name__", str(target)).startswith("as_strided")


def _place(tensor: torch.Tensor) -> list:
    return [[*tensor.size()], [*tensor.stride()], tensor.storage_offset()]
