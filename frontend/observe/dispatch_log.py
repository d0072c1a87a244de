"""What ops do while a graph runs, as events: views made, memory written, sizes changed, and how operands lie.

And what of them can't be traced, wherever in the program it stands.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._python_dispatch import is_traceable_wrapper_subclass_type as is_wrapper_type

from dovetail.dialects.operand_strides import Stated, Strides
from dovetail.dialects.torch_facts.kernel_layouts import as_kernel_lays_out, laid_out_as
from dovetail.dialects.torch_facts.ops import row_of_func
from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.observe.alias_groups import is_whole, share_elements
from dovetail.frontend.observe.bound_arguments import bound, is_written, schema, tensors_in
from dovetail.frontend.observe.eager_errors import eager_error
from dovetail.frontend.observe.operand_layouts import call_layout
from dovetail.frontend.observe.view_chains import Key, Viewed, key


class Wrote(NamedTuple):
    """`tensor` was written.

    `when` is autograd's count of nodes: an op's own node comes before, what it saves of its results after it.
    """

    tensor: torch.Tensor
    when: int


class Reshaped(NamedTuple):
    """`tensor` was given other sizes or strides in place; `when` as for `Wrote`."""

    tensor: torch.Tensor
    when: int


class Took(NamedTuple):
    """The opaque `op` took arguments of these strides."""

    op: str
    strides: tuple[Stated, ...]


class Drew(NamedTuple):
    """The op drew random numbers."""

    op: str


Event = Viewed | Wrote | Reshaped | Took | Drew


class OpCall(NamedTuple):
    """A call of `func`; `given` are its arguments by name."""

    func: Any
    args: tuple
    kwargs: dict[str, Any]
    given: Mapping[str, Any]


class DispatchLog(TorchDispatchMode):
    """Notes the events since the last node began.

    Args:
        arguments: the run's. What is written behind a view among them, autograd shows it by `as_strided` of its base.

    Attributes:
        events: in order.
        addresses_storage: whether anything, since the first node, relied on an offset in a storage.
        windows: what was seen through windows, by how; the tensors are kept, so that memory stays what it is.
        results: the strides of what the present node's control flow gives, where that is known.

    Raises:
        UnsupportedError: for an op that can't be traced, naming the node's source line.
    """

    supports_higher_order_operators = True

    def __init__(self, arguments: Sequence = ()):
        super().__init__()
        self.views = [each for each in arguments if isinstance(each, torch.Tensor) and each._base is not None]
        self.events: list[Event] = []
        self.addresses_storage = False
        self.node: torch.fx.Node | None = None
        self.windows: dict[Key, torch.Tensor] = {}
        self.results: Sequence[Strides | None] = ()

    def begin(self, node: torch.fx.Node, results: Sequence[Strides | None]) -> None:
        """From here on, events are those of `node`, whose control flow gives `results` of these strides."""
        self.node, self.events, self.results = node, [], results

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if any(map(is_wrapper_type, types)):
            return NotImplemented  # what it does to the tensors inside comes here again
        call = OpCall(func, args, kwargs or {}, bound(func, args, kwargs or {}))
        self.events += [*_writes(call), *_operands(call)]
        if torch.Tag.nondeterministic_seeded in getattr(func, "tags", ()):
            self.events.append(Drew(str(func)))
        for refusal in REFUSALS:
            reason = refusal(call, self)
            if reason is not None:
                line = source_line(self.node) if self.node is not None else "before the first line"
                raise UnsupportedError(f"{line}: {reason}")
        self.addresses_storage |= _addresses_storage(call, self)
        source = key(args[0]) if args and isinstance(args[0], torch.Tensor) else None
        result = func(*args, **call.kwargs)
        if isinstance(func, torch._ops.HigherOrderOperator):
            result = laid_out_as(result, self.results)
        else:
            result = as_kernel_lays_out(func, args, call.kwargs, result)
        views = [] if source is None else _views(call, source, result)
        self.windows |= {event.view: event.made for event in views if _is_window(event, self.windows)}
        self.events += views
        return result


def _writes(call: OpCall) -> list[Wrote | Reshaped]:
    """What the call writes or gives other sizes, as its schema says, or as is known of it."""
    now = torch.autograd._get_sequence_nr()
    arguments = filter(is_written, schema(call.func))
    written = [tensor for argument in arguments for tensor in tensors_in(call.given.get(argument.name))]
    if written and torch.Tag.inplace_view in call.func.tags:
        return [Reshaped(tensor, now) for tensor in written]
    # Batch norm saves its statistics after it has updated the running ones.
    return [*(Wrote(tensor, now) for tensor in written), *(Wrote(tensor, now - 1) for tensor in _unmarked(call))]


def _unmarked(call: OpCall) -> list[torch.Tensor]:
    """What the call writes though its schema does not say so."""
    is_training = schema(call.func) and call.given.get("training")
    names = row_of_func(call.func).writes_in_training if is_training else ()
    return [tensor for name in names for tensor in tensors_in(call.given.get(name))]


def _operands(call: OpCall) -> list[Took]:
    """How the operands lie, if the op can tell."""
    layout = call_layout(call.func, call.given)
    return [] if layout is None else [Took(*layout)]


def _views(call: OpCall, source: Key, result: object) -> list[Viewed]:
    """The views that the call made of its first argument, which lay at `source`."""
    first = next(iter(schema(call.func)), None)
    if first is None or first.alias_info is None or first.alias_info.is_write:
        return []
    others = (*call.args[1:], *call.kwargs.values())
    parts = enumerate(result) if isinstance(result, list | tuple) else [(-1, result)]
    return [
        Viewed(call.func, source, key(part), others, index, part)
        for index, part in parts
        if isinstance(part, torch.Tensor)
    ]


def _is_window(event: Viewed, windows: Mapping[Key, torch.Tensor]) -> bool:
    """Whether a view shows elements more than once, or is a view of one that does."""
    return event.view != event.source and (row_of_func(event.callee).overlaps or event.source in windows)


def _writes_window(call: OpCall, log: DispatchLog) -> str | None:
    """Functionalization loses what lies between windows, and adds up what is written twice."""
    is_window = any(key(event.tensor) in log.windows for event in _writes(call))
    return "a write through `unfold` or `expand` can't be traced" if is_window else None


def _reads_written(call: OpCall, log: DispatchLog) -> str | None:
    """Eager refuses most ops that read memory which they write, but not in place."""
    arguments = schema(call.func)
    tensors = [(is_written(each), tensor) for each in arguments for tensor in tensors_in(call.given.get(each.name))]
    for target in (tensor for is_target, tensor in tensors if is_target):
        for _, other in tensors:
            if key(other).shown != key(target).shown and share_elements(target, other):
                return f"{call.func} reads a part of what it writes"
    return None


def _finds_no_order(call: OpCall, log: DispatchLog) -> str | None:
    """Values have no memory: an offset in the memory of one must be a position among its elements."""
    if not _addresses_storage(call, log):
        return None
    tensor = call.args[0]
    # What an argument is a view of may have sizes that no guard can read.
    is_in_order = tensor.is_contiguous() and statically_known_true(is_whole(tensor))
    return None if is_in_order else "as_strided of a tensor that is not all of its memory in order"


def _fails_in_eager(call: OpCall, log: DispatchLog) -> str | None:
    """A graph that eager does not come through has nothing to be compiled; run as it is, it raises where eager does."""
    error = eager_error(call.func, call.args, call.kwargs)
    return None if error is None else f"{call.func} raises: {error}"


REFUSALS = (_writes_window, _reads_written, _finds_no_order, _fails_in_eager)
"""Why a call can't be traced, each for a reason of its own; None where it can."""


def _addresses_storage(call: OpCall, log: DispatchLog) -> bool:
    """Whether the call addresses memory by its offset in the storage, and not as autograd alone does."""
    if not isinstance(call.func, torch._ops.OpOverload) or not call.func._opname.startswith("as_strided"):
        return False
    tensor, *line = call.args
    layouts = ([[*view.size()], [*view.stride()], view.storage_offset()] for view in log.views if view._base is tensor)
    target = log.node.target if log.node is not None else None
    return line not in layouts or getattr(target, "__name__", str(target)).startswith("as_strided")
