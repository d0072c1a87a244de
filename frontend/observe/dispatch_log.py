"""What ops do while a graph runs, as events: views made, memory written, sizes changed, and how operands lie."""

from collections.abc import Mapping, Sequence

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._python_dispatch import is_traceable_wrapper_subclass_type as is_wrapper_type

from dovetail.dialects.torch_facts.kernel_layouts import as_kernel_lays_out, laid_out_as
from dovetail.dialects.torch_facts.ops import row_of_func
from dovetail.dialects.torch_facts.strides import Strides
from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.observe.alias_groups import shows_twice
from dovetail.frontend.observe.bound_arguments import bound, schema
from dovetail.frontend.observe.op_calls import Drew, Event, OpCall, Took, writes
from dovetail.frontend.observe.operand_layouts import call_layout
from dovetail.frontend.observe.undecided_copies import UndecidedCopy, undecided_copy
from dovetail.frontend.observe.untraceable import REFUSALS, addresses_storage
from dovetail.frontend.observe.view_chains import Key, Viewed, key


class DispatchLog(TorchDispatchMode):
    """Notes the events since the last node began.

    Args:
        arguments: the run's. What is written behind a view among them, autograd shows it by `as_strided` of its base.

    Attributes:
        events: in order.
        addresses_storage: whether anything, since the first node, relied on an offset in a storage.
        windows: what was seen through windows, by how; the tensors are kept, so that memory stays what it is.
        results: the strides of what the present node's control flow gives, where that is known.
        undecided: the copies that eager may not make.

    Raises:
        UnsupportedError: for an op that can't be traced, naming the node's source line.
    """

    supports_higher_order_operators = True

    def __init__(self, arguments: Sequence = ()):
        super().__init__()
        self.arguments = [each for each in arguments if isinstance(each, torch.Tensor)]
        self.views = [each for each in self.arguments if each._base is not None]
        self.events: list[Event] = []
        self.addresses_storage = False
        self.node: torch.fx.Node | None = None
        self.windows: dict[Key, torch.Tensor] = {}
        self.results: Sequence[Strides | None] = ()
        self.undecided: list[UndecidedCopy] = []

    def begin(self, node: torch.fx.Node, results: Sequence[Strides | None]) -> None:
        """From here on, events are those of `node`, whose control flow gives `results` of these strides."""
        self.node, self.events, self.results = node, [], results

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if any(map(is_wrapper_type, types)):
            return NotImplemented  # what it does to the tensors inside comes here again
        call = OpCall(func, args, kwargs or {}, bound(func, args, kwargs or {}))
        self.events += [*writes(call), *_operands(call)]
        if torch.Tag.nondeterministic_seeded in getattr(func, "tags", ()):
            self.events.append(Drew(str(func)))
        for refusal in REFUSALS:
            if reason := refusal(call, self):
                line = source_line(self.node) if self.node is not None else "before the first line"
                raise UnsupportedError(f"{line}: {reason}")
        self.addresses_storage |= addresses_storage(call, self)
        source = key(args[0]) if args and isinstance(args[0], torch.Tensor) else None
        result = func(*args, **call.kwargs)
        if isinstance(func, torch._ops.HigherOrderOperator):
            result = laid_out_as(result, self.results)
        else:
            result = as_kernel_lays_out(func, args, call.kwargs, result)
        if (copy := undecided_copy(call, self.node, result)) is not None:
            self.undecided.append(copy)
        views = [] if source is None else _views(call, source, result)
        self.windows |= {event.view: event.made for event in views if _is_window(event, self.windows)}
        self.events += views
        return result


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
    if event.view == event.source:
        return False
    is_free = event.callee is torch.ops.aten.as_strided.default
    return row_of_func(event.callee).overlaps or event.source in windows or (is_free and shows_twice(event.made))
