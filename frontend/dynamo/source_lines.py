"""Where in the user's program an FX node comes from."""

import torch


def source_line(node: torch.fx.Node) -> str:
    """The user's source line that `node` comes from, as "file:line", or the node's name."""
    trace = node.meta.get("stack_trace") or ""
    frames = [line.strip() for line in trace.splitlines() if line.strip().startswith('File "')]
    return (
        frames[-1].split(", in ")[0].replace('File "', "").replace('", line ', ":") if frames else f"node {node.name}"
    )
