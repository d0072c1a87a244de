"""What ATen computes in one kernel, step by step: numbers are rounded, and cancel, between the steps."""

import torch
from torch._decomp import decomposition_table

aten = torch.ops.aten

FUNCTIONAL_BATCH_NORM = aten._native_batch_norm_legit_functional.default
BATCH_NORMS = (
    aten.native_batch_norm.default,
    aten.native_batch_norm_backward.default,
    aten._native_batch_norm_legit.default,
    aten._native_batch_norm_legit.no_stats,
    FUNCTIONAL_BATCH_NORM,
)

# By kernel, the function that computes its results by other ops. These overflow where the kernel does: they square
# differences from a mean, and take `exp` of those from a maximum.
STEPS = {
    op: decomposition_table[op]
    for op in (
        *BATCH_NORMS,
        aten._fused_rms_norm.default,
        aten._fused_rms_norm_backward.default,
        aten._log_softmax.default,
        aten._log_softmax_backward_data.default,
        aten._softmax.default,
        aten._softmax_backward_data.default,
        aten.addcdiv.default,
        aten.addcmul.default,
        aten.gelu.default,
        aten.gelu_backward.default,
        aten.huber_loss.default,
        aten.lerp.Scalar,
        aten.lerp.Tensor,
        aten.linalg_vector_norm.default,
        aten.logsumexp.default,
        aten.mish.default,
        aten.mish_backward.default,
        aten.mse_loss.default,
        aten.native_group_norm.default,
        aten.native_group_norm_backward.default,
        aten.native_layer_norm.default,
        aten.native_layer_norm_backward.default,
        aten.sigmoid_backward.default,
        aten.silu.default,
        aten.silu_backward.default,
        aten.smooth_l1_loss.default,
        aten.tanh_backward.default,
    )
}
