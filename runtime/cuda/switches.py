"""PyTorch's switches that decide which kernels of a GPU run: a graph keeps those of its capture."""

import torch

_NAMES = (
    "deterministic_algorithms", "deterministic_algorithms_warn_only", "deterministic_fill_uninitialized_memory",
    "cudnn_enabled", "cudnn_benchmark", "cudnn_deterministic", "cudnn_depthwise_kernel", "cudnn_sdp_enabled",
    "flash_sdp_enabled", "fa3_sdp_enabled", "mem_efficient_sdp_enabled", "math_sdp_enabled", "overrideable_sdp_enabled",
    "math_sdp_allow_fp16_bf16_reduction", "cublas_allow_fp16_reduced_precision_reduction",
    "cublas_allow_bf16_reduced_precision_reduction", "cublas_allow_fp16_accumulation", "sm_carveout_experimental",
    "blas_preferred_backend", "linalg_preferred_backend",
)  # fmt: skip

_GETTERS = [getattr(torch._C, f"_get_{name}") for name in _NAMES if hasattr(torch._C, f"_get_{name}")]
"""PyTorch's own, in C, some tens of nanoseconds each; 2.11 lacks some."""

_precision = torch._C._get_fp32_precision_getter
_order = torch._C._get_sdp_priority_order


def switches() -> tuple:
    """How they are turned now, to be compared.

    `allow_tf32` is read as what it sets, the precision of an op: read by its name, it raises where ops differ.
    """
    precisions = _precision("cuda", "matmul"), _precision("cuda", "conv"), _precision("cuda", "rnn")
    return (*precisions, *_order(), *[getter() for getter in _GETTERS])
