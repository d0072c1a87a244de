"""What calls of ops can't be traced, wherever in the program they stand."""

from typing import TYPE_CHECKING

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from dovetail.frontend.observe.alias_groups import crossing, is_whole, root, share_elements, shows_twice, storage
from dovetail.frontend.observe.bound_arguments import is_written, schema, tensors_in
from dovetail.frontend.observe.eager_errors import eager_error
from dovetail.frontend.observe.op_calls import OpCall, writes
from dovetail.frontend.observe.view_chains import key

if TYPE_CHECKING:
    from dovetail.frontend.observe.dispatch_log import DispatchLog


def _writes_window(call: OpCall, log: "DispatchLog") -> str:
    """Functionalization loses what lies between windows, and what a write of one row changes in the next."""
    written = [event.tensor for event in writes(call)]
    memories = set(map(storage, written))
    is_window = any(key(each) in log.windows for each in written) or any(
        storage(each) in memories and shows_twice(each) for each in (*written, *log.arguments)
    )
    return "a write through `unfold`, `expand` or strides that overlap can't be traced" if is_window else ""


def _reads_written(call: OpCall, log: "DispatchLog") -> str:
    """Eager refuses most ops that read memory which they write, but not in place; of some, that too.

    In what order a custom op reads and writes, nobody knows: what it only reads, tracing gives it as it was before.
    """
    tensors = [(each, tensor) for each in schema(call.func) for tensor in tensors_in(call.given.get(each.name))]
    written = [each for each in tensors if is_written(each[0])]
    if not written:
        return ""
    is_custom = _is_custom(call)
    in_place = getattr(call.func, "_opname", "") not in _ELSEWHERE
    for one, two in crossing([tensor for _, tensor in written], [tensor for _, tensor in tensors]):
        (argument, target), (other, read) = written[one], tensors[two]
        allowed = is_written(other) if is_custom else in_place or argument is other
        is_in_place = allowed and key(read).shown == key(target).shown
        if not is_in_place and share_elements(target, read):
            return f"{call.func} reads a part of what it writes"
    return ""


def _writes_through_two(call: OpCall, log: "DispatchLog") -> str:
    """Tracing gives a custom op one copy of each tensor that it writes views of, and keeps the last of two copies."""
    if not _is_custom(call):
        return ""
    first: dict[int, torch.Tensor] = {}
    written = [event.tensor for event in writes(call)]
    if all(first.setdefault(storage(each), root(each)) is root(each) for each in written):
        return ""
    return f"{call.func} writes the same memory through tensors that are not views of one"


def _is_custom(call: OpCall) -> bool:
    return getattr(call.func, "namespace", "") not in _OF_PYTORCH


_OF_PYTORCH = frozenset(("aten", "inductor", "prims", "higher_order"))

_ELSEWHERE = frozenset(
    (
        "index_add_",
        "index_copy_",
        "index_reduce_",
        "masked_scatter_",
        "put_",
        "scatter_",
        "scatter_add_",
        "scatter_reduce_",
    )
)
"""Ops that write where others of their operands say: eager refuses such that share memory, whole tensors as well."""


def _finds_no_order(call: OpCall, log: "DispatchLog") -> str:
    """Values have no memory: an offset in the memory of one must be a position among its elements."""
    if not addresses_storage(call, log):
        return ""
    tensor = call.args[0]
    # What an argument is a view of may have sizes that no guard can read.
    is_in_order = tensor.is_contiguous() and statically_known_true(is_whole(tensor))
    return "" if is_in_order else "as_strided of a tensor that is not all of its memory in order"


def _fails_in_eager(call: OpCall, log: "DispatchLog") -> str:
    """A graph that eager does not come through has nothing to be compiled; run as it is, it raises where eager does."""
    error = eager_error(call.func, call.args, call.kwargs)
    return "" if error is None else f"{call.func} raises: {error}"


def _counts_writes(call: OpCall, log: "DispatchLog") -> str:
    """Tracing finds the counter of a tensor of its own, and loses what sets one."""
    counts = str(call.func) in ("prims._tensor_version.default", "prims._unsafe_set_version_counter.default")
    return "a program that reads or sets `_version` is not supported yet" if counts else ""


REFUSALS = (_writes_window, _reads_written, _writes_through_two, _finds_no_order, _counts_writes, _fails_in_eager)
"""Why a call can't be traced, each for a reason of its own; "" where it can."""


def addresses_storage(call: OpCall, log: "DispatchLog") -> bool:
    """Whether the call addresses memory by its offset in the storage, and not as autograd alone does."""
    if not isinstance(call.func, torch._ops.OpOverload) or not call.func._opname.startswith("as_strided"):
        return False
    tensor, *line = call.args
    layouts = ([[*view.size()], [*view.stride()], view.storage_offset()] for view in log.views if view._base is tensor)
    target = log.node.target if log.node is not None else None
    return line not in layouts or getattr(target, "__name__", str(target)).startswith("as_strided")
