"""Where in the user's program an FX node comes from."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch._guards import TracingContext
from torch.utils import _device

_DEFAULT_DEVICE = _device.__file__
_FRAME = re.compile(r'File "(.*)", line (\d+), in (.*)')


def source_line(node: torch.fx.Node) -> str:
    """The user's source line that `node` comes from, as "file:line", or the node's name."""
    found = _frame(node)
    return f"node {node.name}" if found is None else f"{found[0]}:{found[1]}"


@contextmanager
def deciding_at(node: torch.fx.Node) -> Iterator[None]:
    """Has guards of Dynamo's that are made meanwhile name the user's line that `node` comes from."""
    context, found = TracingContext.try_get(), _frame(node)
    if context is None or found is None:
        yield
        return
    before = context.loc_in_frame
    TracingContext.set_current_loc(found[0], int(found[1]), found[2])
    try:
        yield
    finally:
        context.loc_in_frame = before


def _frame(node: torch.fx.Node) -> tuple[str, ...] | None:
    """File, line and function; a default device stands between the user's line and what it calls."""
    frames = (_FRAME.search(line) for line in (node.meta.get("stack_trace") or "").splitlines())
    users = [found.groups() for found in frames if found and found[1] != _DEFAULT_DEVICE]
    return users[-1] if users else None
