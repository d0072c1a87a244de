"""Library kernels: a vendor's are better than what we would generate."""

from functools import partial

from dovetail.dialects.torch_facts import flops
from dovetail.dialects.torch_facts.row import (
    Kernel,
    Layout,
    Recompute,
    ResultMemory,
    Rounding,
    Traced,
    WritesInto,
    alike,
    library,
)

_contraction = partial(library, kernel=Kernel.CONTRACTION, keeps_equality=False)
_matrix = partial(_contraction, memory=ResultMemory.EXACT, is_row_major=True)
_convolution = partial(library, kernel=Kernel.CONVOLUTION, keeps_equality=False)
_attention = partial(library, kernel=Kernel.ATTENTION, keeps_equality=False)
_indexing = partial(library, kernel=Kernel.INDEXING)
_reading = partial(_indexing, rounding=Rounding.NEVER)
_gathering = partial(_reading, memory=ResultMemory.EXACT, recompute=Recompute.FREE)
_pooling = partial(library, kernel=Kernel.POOLING)
_interpolation = partial(library, kernel=Kernel.INTERPOLATION, traced=Traced.WHOLE)
_blending = partial(_interpolation, keeps_equality=False)
_nearest = partial(_interpolation, rounding=Rounding.NEVER, recompute=Recompute.FREE)
_NEAREST = [f"{name}{rank}d" for name in ("upsample_nearest", "_upsample_nearest_exact") for rank in (1, 2, 3)]
_margin_loss = partial(library, kernel=Kernel.MARGIN_LOSS, traced=Traced.WHOLE, keeps_equality=False)
_sorting = partial(library, kernel=Kernel.SORTING)
_linear_algebra = partial(library, kernel=Kernel.LINEAR_ALGEBRA, keeps_equality=False)

LIBRARY = (
    _contraction("addbmm", flops=flops.added_product),
    _contraction("addmv", flops=flops.added_product, memory=ResultMemory.EXACT),
    *alike(partial(_matrix, flops=flops.added_product), "addmm baddbmm"),
    _matrix("bmm", flops=flops.product),
    _matrix("mm", flops=flops.product, writes_into=WritesInto.PRODUCT),
    *alike(partial(_contraction, flops=flops.product, memory=ResultMemory.EXACT), "dot mv vdot"),
    *alike(partial(_contraction, flops=flops.product), "linear matmul _trilinear"),
    _convolution("convolution", flops=flops.convolution(transposed_at=6), memory=ResultMemory.EXACT),
    _convolution("_convolution", flops=flops.convolution(transposed_at=6)),
    _convolution("convolution_backward", flops=flops.convolution_backward),
    _convolution("mkldnn_convolution", flops=flops.convolution(transposed_at=None)),
    _attention("scaled_dot_product_attention", flops=flops.attention),
    _attention("_scaled_dot_product_attention_math", flops=flops.attention),
    _attention(
        "_scaled_dot_product_flash_attention_for_cpu",
        flops=flops.attention,
        traced=Traced.WHOLE,
        in_rows=("attn_mask", "key", "query", "value"),
    ),
    _attention(
        "_scaled_dot_product_flash_attention_for_cpu_backward",
        flops=flops.attention_backward,
        traced=Traced.WHOLE,
        in_rows=("attn_mask", "grad_out", "key", "out", "query", "value"),
        order=(0, 2, 1, 3),
    ),
    library(
        "native_layer_norm_backward",
        kernel=Kernel.LAYER_NORM_GRADIENTS,
        layout=Layout.ROWS,
        sees_strides=True,
        traced=Traced.IN_PARTS,
        keeps_equality=False,
    ),
    _reading("embedding", memory=ResultMemory.EXACT),
    _indexing("embedding_dense_backward"),
    _gathering("gather"),
    _gathering("index", awaited=("Tensor",)),  # with truth values for indices
    _reading("index_select", recompute=Recompute.FREE),
    _reading("masked_select", awaited=("default", "out")),
    _reading("take"),
    _indexing("_unsafe_index", recompute=Recompute.FREE),
    _indexing("index_add", traced=Traced.WHOLE, writes_into=WritesInto.ADD_ROWS),
    *alike(partial(_indexing, layout=Layout.FIRST), "index_fill index_put"),
    *alike(
        _indexing,
        "index_copy masked_scatter put scatter scatter_add scatter_reduce "
        "_unsafe_index_put _unsafe_masked_index _unsafe_masked_index_put_accumulate",
    ),
    _indexing("nonzero", awaited=("default", "out")),
    _indexing("unique_dim", awaited=("default",)),
    *alike(_pooling, "_adaptive_avg_pool2d _adaptive_avg_pool2d_backward adaptive_max_pool2d"),
    *alike(
        partial(_pooling, traced=Traced.WHOLE),
        "avg_pool2d avg_pool2d_backward max_pool2d_with_indices max_pool2d_with_indices_backward",
    ),
    *alike(_nearest, " ".join(_NEAREST)),
    *alike(_blending, " ".join(f"{name}_backward" for name in _NEAREST)),
    _blending("upsample_bilinear2d", layout=Layout.FORMAT),
    *alike(_blending, "upsample_bicubic2d upsample_linear1d upsample_trilinear3d"),
    *alike(
        _blending,
        "upsample_bicubic2d_backward upsample_bilinear2d_backward upsample_linear1d_backward "
        "upsample_trilinear3d_backward",
    ),
    *alike(
        _margin_loss,
        "multi_margin_loss multi_margin_loss_backward multilabel_margin_loss_backward multilabel_margin_loss_forward",
    ),
    *alike(_sorting, "bucketize searchsorted"),
    *alike(partial(_sorting, rounding=Rounding.NEVER), "kthvalue median sort topk"),
    _linear_algebra("_linalg_det", sees_strides=True),
    *alike(
        _linear_algebra,
        "linalg_cholesky_ex linalg_eigh _linalg_eigh linalg_inv_ex linalg_lu_factor_ex linalg_qr _linalg_solve_ex "
        "linalg_svd _linalg_svd triangular_solve",
    ),
)
