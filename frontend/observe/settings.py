"""What a program sets for all of the process, which tracing does once, and a compiled call never."""

import torch

from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.source_lines import source_line

_MODULES = ("torch", "torch._C", "torch.__future__", "torch.random")
_FOLDERS = ("torch.backends.", "torch.cuda.")
_STARTS = ("set_", "enable_", "allow_", "seed", "reset_")
# Whose effect tracing follows, and what transforms turn and put back.
_FOLLOWED = frozenset((torch._C._set_grad_enabled, torch._C._set_fwd_grad_enabled))


def refuse_settings(gm: torch.fx.GraphModule) -> None:
    """Refuses a graph that sets something, itself or in a branch, a loop or a custom function.

    Raises:
        UnsupportedError: for the first such call.
    """
    graphs = [module.graph for module in gm.modules() if isinstance(module, torch.fx.GraphModule)]
    for node in (node for graph in graphs for node in graph.nodes if makes_setting(node)):
        raise UnsupportedError(f"{source_line(node)}: {node.name} in a program is not supported yet")


def makes_setting(node: torch.fx.Node) -> bool:
    """Whether a node calls such a function. Their names tell: PyTorch has dozens, and more in each version."""
    if node.op != "call_function" or node.target in _FOLLOWED:
        return False
    module, name = getattr(node.target, "__module__", None) or "", getattr(node.target, "__name__", "")
    is_there = module in _MODULES or f"{module}.".startswith(_FOLDERS)
    return is_there and name.lstrip("_").startswith(_STARTS)
