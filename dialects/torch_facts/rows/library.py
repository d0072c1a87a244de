"""Library kernels: a vendor's are better than what we would generate."""

from functools import partial

from dovetail.dialects.torch_facts import flops
from dovetail.dialects.torch_facts.row import Recompute, ResultMemory, Rounding, Traced, library

_contraction = partial(library, kernel="contraction", keeps_equality=False)
_convolution = partial(library, kernel="convolution", keeps_equality=False)
_attention = partial(library, kernel="attention", keeps_equality=False)
_indexing = partial(library, kernel="gather or scatter")
_pooling = partial(library, kernel="pooling")
_sorting = partial(library, kernel="sorting")
_linear_algebra = partial(library, kernel="linear algebra", keeps_equality=False)

LIBRARY = (
    _contraction("addbmm", flops=flops.added_product),
    _contraction("addmm", flops=flops.added_product, memory=ResultMemory.EXACT, is_row_major=True),
    _contraction("addmv", flops=flops.added_product, memory=ResultMemory.EXACT),
    _contraction("baddbmm", flops=flops.added_product, memory=ResultMemory.EXACT, is_row_major=True),
    _contraction("bmm", flops=flops.product, memory=ResultMemory.EXACT, is_row_major=True),
    _contraction("dot", flops=flops.product, memory=ResultMemory.EXACT),
    _contraction("linear", flops=flops.product),
    _contraction("matmul", flops=flops.product),
    _contraction("mm", flops=flops.product, memory=ResultMemory.EXACT, is_row_major=True),
    _contraction("mv", flops=flops.product, memory=ResultMemory.EXACT),
    _contraction("_trilinear", flops=flops.product),
    _contraction("vdot", flops=flops.product, memory=ResultMemory.EXACT),
    _convolution("convolution", flops=flops.convolution(transposed_at=6), memory=ResultMemory.EXACT),
    _convolution("_convolution", flops=flops.convolution(transposed_at=6)),
    _convolution("convolution_backward", flops=flops.convolution_backward, traced=Traced.WHOLE),
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
    ),
    _indexing("embedding", memory=ResultMemory.EXACT, rounding=Rounding.NEVER),
    _indexing("embedding_dense_backward", traced=Traced.WHOLE),
    _indexing("gather", memory=ResultMemory.EXACT, rounding=Rounding.NEVER, recompute=Recompute.FREE),
    _indexing("index", memory=ResultMemory.EXACT, rounding=Rounding.NEVER, recompute=Recompute.FREE),
    _indexing("index_add"),
    _indexing("index_copy"),
    _indexing("index_fill"),
    _indexing("index_put"),
    _indexing("index_select", rounding=Rounding.NEVER, recompute=Recompute.FREE),
    _indexing("masked_scatter"),
    _indexing("masked_select", rounding=Rounding.NEVER),
    _indexing("nonzero"),
    _indexing("put"),
    _indexing("scatter"),
    _indexing("scatter_add"),
    _indexing("scatter_reduce"),
    _indexing("take", rounding=Rounding.NEVER),
    _indexing("unique_dim"),
    _indexing("_unsafe_index", recompute=Recompute.FREE),
    _indexing("_unsafe_index_put"),
    _indexing("_unsafe_masked_index"),
    _indexing("_unsafe_masked_index_put_accumulate"),
    _pooling("_adaptive_avg_pool2d"),
    _pooling("_adaptive_avg_pool2d_backward"),
    _pooling("adaptive_max_pool2d"),
    _pooling("avg_pool2d", traced=Traced.WHOLE),
    _pooling("avg_pool2d_backward", traced=Traced.WHOLE),
    _pooling("max_pool2d_with_indices", traced=Traced.WHOLE),
    _pooling("max_pool2d_with_indices_backward", traced=Traced.WHOLE),
    _sorting("bucketize"),
    _sorting("kthvalue", rounding=Rounding.NEVER),
    _sorting("median", rounding=Rounding.NEVER),
    _sorting("searchsorted"),
    _sorting("sort", rounding=Rounding.NEVER),
    _sorting("topk", rounding=Rounding.NEVER),
    _linear_algebra("linalg_cholesky_ex"),
    _linear_algebra("_linalg_det", sees_strides=True),
    _linear_algebra("linalg_eigh"),
    _linear_algebra("_linalg_eigh"),
    _linear_algebra("linalg_inv_ex"),
    _linear_algebra("linalg_lu_factor_ex"),
    _linear_algebra("linalg_qr"),
    _linear_algebra("_linalg_solve_ex"),
    _linear_algebra("linalg_svd"),
    _linear_algebra("_linalg_svd"),
    _linear_algebra("triangular_solve"),
)
