"""Where in the user's program an FX node comes from."""

import torch
from torch.utils import _device

_DEFAULT_DEVICE = _device.__file__


def source_line(node: torch.fx.Node) -> str:
    """The user's source line that `node` comes from, as "file:line", or the node's name."""
    trace = node.meta.get("stack_trace") or ""
    frames = [line.strip() for line in trace.splitlines() if line.strip().startswith('File "')]
    # A default device stands between the user's line and what it calls.
    users = [frame for frame in frames if not frame.startswith(f'File "{_DEFAULT_DEVICE}"')]
    return users[-1].split(", in ")[0].replace('File "', "").replace('", line ', ":") if users else f"node {node.name}"
