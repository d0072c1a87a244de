"""Which ATen ops PyTorch decomposes while the joint graph is traced."""

from collections.abc import Callable
from functools import cache

import torch
from torch._decomp import core_aten_decompositions, get_decompositions

from dovetail.frontend.decompose.foreach import foreach_decompositions
from dovetail.frontend.decompose.layer_norm import layer_norm
from dovetail.frontend.decompose.replacements import REPLACEMENTS, unfused_multiply_add

aten = torch.ops.aten

# Kept whole: a library kernel computes them better than their pieces, or they draw random numbers as eager does.
_KEPT = (
    aten.embedding_dense_backward,
    aten.native_dropout,
    aten._scaled_dot_product_flash_attention_for_cpu,
    aten._scaled_dot_product_flash_attention_for_cpu_backward,
    aten.convolution_backward,
    aten.max_pool2d_with_indices,
    aten.max_pool2d_with_indices_backward,
    aten.avg_pool2d,
    aten.avg_pool2d_backward,
    aten.bernoulli,
    aten.uniform,
    aten.exponential,
    aten.normal,
    aten.rrelu_with_noise,
    aten.rrelu_with_noise_functional,
    aten.lift_fresh,
)

# Beyond the core set: composite kernels whose pieces fuse with their neighbours.
_ADDED = (
    aten.native_layer_norm_backward,
    aten.native_group_norm_backward,
    aten._native_batch_norm_legit_functional,
    aten._native_batch_norm_legit_no_training,
    aten._native_batch_norm_legit,
    aten.native_batch_norm,
    aten.native_batch_norm_backward,
    aten._softmax,
    aten._softmax_backward_data,
    aten._log_softmax,
    aten._log_softmax_backward_data,
    aten.gelu,
    aten.gelu_backward,
    aten.silu,
    aten.silu_backward,
    aten.tanh_backward,
    aten.sigmoid_backward,
    aten.threshold_backward,
    aten.nll_loss_forward,
    aten.nll_loss_backward,
    aten.mse_loss,
    aten.mse_loss_backward,
    aten._unsafe_view,
    aten.addcmul,
    aten.addcdiv,
    aten.lerp,
)


@cache
def _table() -> dict[torch._ops.OpOverload, Callable]:
    table = {**core_aten_decompositions(), **get_decompositions(_ADDED), **foreach_decompositions(), **REPLACEMENTS}
    table[aten.native_layer_norm.default] = layer_norm
    kept = {overload for packet in _KEPT for overload in (getattr(packet, name) for name in packet.overloads())}
    return {overload: function for overload, function in table.items() if overload not in kept}


def decompositions() -> dict[torch._ops.OpOverload, Callable]:
    """The table for the capture: overload to the function that computes it from simpler ops."""
    # Dynamo defines this op when it first emits one, so it may come into being later than the rest of the table.
    fma = getattr(torch.ops.prims, "fma", None)
    return _table() if fma is None else {**_table(), fma.default: unfused_multiply_add}
