"""Makes a graph say where it makes tensors for which the caller's default device decides.

Dynamo says it of what it traces itself, but not in the bodies of checkpointed regions: there a mode of the caller's
decides, when the graph runs. It is not seen while a graph is compiled. Branches of control flow run without it, in
eager, too.
"""

from typing import cast

import torch
from torch._dynamo.variables.torch_function import torch_function_mode_stack_state_mgr
from torch.overrides import _get_current_function_mode_stack
from torch.utils._device import DeviceContext, _device_constructors

from dovetail.frontend.dynamo.inline_subgraphs import INLINED


def state_default_device(gm: torch.fx.GraphModule) -> None:
    """Gives the ops of `gm` that make a tensor nowhere in particular the caller's device, if there is one."""
    modes = [*_get_current_function_mode_stack(), *torch_function_mode_stack_state_mgr.stack]
    devices = [mode.device for mode in modes if isinstance(mode, DeviceContext)]
    if devices:
        _state(gm, devices[-1])


def _state(gm: torch.fx.GraphModule, device: torch.device) -> None:
    makers = _device_constructors()
    for node in gm.graph.nodes:
        if node.op != "call_function":
            continue
        if node.target in makers and node.kwargs.get("device") is None:
            node.update_kwarg("device", device)
        if node.target in INLINED:
            _state(cast(torch.fx.GraphModule, getattr(gm, str(node.args[0].target))), device)
    gm.recompile()
