"""Numbers that Dynamo leaves open: the sizes of a tensor that vary from call to call, and integers that do.

What is decided on such a number while a graph is captured in Dynamo's own shape environment becomes a guard of
Dynamo's.
"""

from collections.abc import Sequence

import torch
from torch._guards import TracingContext
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils.weak import WeakTensorKeyDictionary

from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.source_lines import source_line


def shape_env(gm: torch.fx.GraphModule) -> ShapeEnv | None:
    """The environment that knows the open numbers of a graph's arguments.

    None where all are known; and where Dynamo does not wait for guards, as its compilation has ended.
    """
    context = TracingContext.try_get()
    if context is None or context.fake_mode is None:
        return None
    return context.fake_mode.shape_env if has_open_sizes(gm) else None


def has_open_sizes(gm: torch.fx.GraphModule) -> bool:
    """Whether Dynamo leaves a number of the graph's arguments open."""
    return any(_is_open(node.meta.get("example_value")) for node in gm.graph.find_nodes(op="placeholder"))


def has_context(tensor: torch.Tensor, env: ShapeEnv | None) -> bool:
    """Whether Dynamo says in `env` which sizes of an argument are open."""
    context = TracingContext.try_get()
    if context is None or context.fake_mode is None:
        return False
    return context.fake_mode.shape_env is env and tensor in context.tensor_to_context


def check_floats(gm: torch.fx.GraphModule) -> None:
    """Raises UnsupportedError for a number of floating point that PyTorch takes for known, and computes of open ones.

    It does so by algebra: `s - s` is 0 to it, but NaN where `s` is infinite.
    """
    for node in gm.graph.nodes:
        value = node.meta.get("example_value") if node.op == "call_function" else None
        if isinstance(value, torch.SymFloat) and not value.node.expr.free_symbols:
            raise UnsupportedError(f"{source_line(node)}: a number that PyTorch simplifies to {value} can't be open")


_items: WeakTensorKeyDictionary = WeakTensorKeyDictionary()


def note_items(gm: torch.fx.GraphModule, inputs: Sequence) -> None:
    """Notes which numbers Dynamo passes in tensors among a graph's arguments, for `open_item`."""
    for node, value in zip(gm.graph.find_nodes(op="placeholder"), inputs, strict=True):
        fake = node.meta.get("example_value")
        if isinstance(value, torch.Tensor) and isinstance(fake, FakeTensor) and is_open(fake.item_memo):
            _items[value] = fake.item_memo


def open_item(tensor: torch.Tensor):
    """The open number that Dynamo passes in a tensor, a Python float of the user's; None for any other tensor."""
    return _items.get(tensor)


def known(value):
    """A number as such where it is known by now; an open one as it is."""
    if not isinstance(value, torch.SymInt):
        return value
    found = value.node.maybe_as_int()
    return value if found is None else found


def identity(value):
    """What is equal for numbers that are equal in all calls, without asking whether they are so now."""
    found = known(value)
    return found.node.expr if isinstance(found, torch.SymInt) else found


def is_open(value) -> bool:
    """Whether `value` is a number that is known only when the program runs."""
    return isinstance(known(value), torch.SymInt | torch.SymFloat | torch.SymBool)


def _is_open(value) -> bool:
    if isinstance(value, torch.Tensor):
        item = value.item_memo if isinstance(value, FakeTensor) else None
        return any(map(is_open, (*value.size(), *value.stride(), value.storage_offset(), item)))
    return is_open(value)
