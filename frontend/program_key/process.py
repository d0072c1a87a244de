"""What of the process decides how a graph is traced: PyTorch's modes, its switches, and what was put into it."""

import functools
import sys
from collections.abc import Callable, Mapping

import torch
from torch._C._dynamo.guards import GlobalStateGuard
from torch._functorch import config as functorch_config
from torch._functorch import predispatch
from torch.fx.experimental import _config as fx_config

from dovetail.frontend.decompose.table import decompositions
from dovetail.frontend.devices import rounds_convolutions
from dovetail.frontend.observe.transforms import is_inside_transform
from dovetail.frontend.program_key.unkeyed import Unkeyed

_KEYS_OF_TORCH = ("Meta", "MPS", "CUDA")
"""The dispatch keys for which PyTorch itself has kernels of ATen's ops in Python."""

_SWITCHES: tuple[Callable[[], object], ...] = (
    torch.is_inference_mode_enabled,
    torch.get_default_device,
    torch.get_float32_matmul_precision,
    rounds_convolutions,
    lambda: torch.utils.deterministic.fill_uninitialized_memory,  # type: ignore[attr-defined]  # a module of properties
    lambda: torch.backends.mkldnn.enabled,
    torch.backends.cuda.flash_sdp_enabled,
    torch.backends.cuda.mem_efficient_sdp_enabled,
    torch.backends.cuda.math_sdp_enabled,
    torch.backends.cuda.cudnn_sdp_enabled,
    torch.backends.cuda.fp16_bf16_reduction_math_sdp_allowed,
    torch._C._get_sdp_priority_order,
    lambda: (torch.backends.opt_einsum.enabled, torch.backends.opt_einsum.strategy),
    torch._C._is_view_replay_enabled,
    torch.backends.mha.get_fastpath_enabled,
    lambda: _settings(functorch_config.get_config_copy()),
    lambda: _settings(fx_config.get_config_copy()),  # type: ignore[attr-defined]  # a config module has it
    lambda: sys.float_info.min / 2,  # 0 where the thread flushes subnormal numbers, which constants may be
)


def _kernels_of_vmap() -> set[str]:
    """What PyTorch puts into its table of kernels at the process's first `torch.vmap`."""
    library = predispatch.VMAP_DECOMPOSITIONS_LIB
    return set() if library is None else library._op_impls


def _settings(config: Mapping[str, object]) -> list[tuple[str, object]]:
    """What `config` says, whoever set it: PyTorch's own text of it also tells what was set and set back."""
    for name, value in config.items():
        if callable(value):  # whose text says nothing of it
            raise Unkeyed(f"the function that PyTorch's configuration has for {name}")
    return sorted(config.items())


def process_text() -> str:
    """PyTorch's state: what Dynamo guards a graph on, and what it does not.

    Raises:
        Unkeyed: where Python code that is not PyTorch's takes part in tracing.
    """
    if torch._C._len_torch_function_stack():
        raise Unkeyed("a mode of __torch_function__")
    if is_inside_transform():
        raise Unkeyed("a transform of torch.func, or a level of forward-mode derivatives")
    for kernel in torch.library._impls - _kernels_of_vmap():
        namespace, name, key = kernel.split("/")
        if namespace == "aten" and key not in _KEYS_OF_TORCH:
            raise Unkeyed(f"aten::{name} has a kernel in Python for {key}")
    for function in decompositions().values():
        while isinstance(function, functools.partial):
            function = function.func
        if function.__module__.split(".")[0] not in ("torch", "dovetail", "functools"):
            raise Unkeyed(f"a decomposition in {function.__module__}")
    return "\n".join(map(str, (GlobalStateGuard().__getstate__(), *(switch() for switch in _SWITCHES))))
