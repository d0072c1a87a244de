"""Ops of no kind: passes leave them alone, and only what their rows say is known of them."""

from functools import partial

from dovetail.dialects.torch_facts.row import Layout, ResultMemory, Rounding, Traced, alike, opaque

# They show memory as other elements. IREE has none of it, so ATen makes them.
_reinterpretation = partial(opaque, memory=ResultMemory.OPERAND)

_deciding = partial(opaque, decides_by=None)
_whole = partial(opaque, traced=Traced.WHOLE)
_in_rows_on_cuda = partial(opaque, layout_on_cuda=Layout.ROWS)
_in_parts = partial(opaque, traced=Traced.IN_PARTS)
_awaited = partial(opaque, awaited=("default",))
_running = partial(opaque, writes_in_training=("running_mean", "running_var"))

OPAQUE = (
    *alike(partial(_reinterpretation, sees_strides=False, is_lazy=True), "_conj _neg_view"),
    _reinterpretation("view_as_real", sees_strides=False),
    *alike(_reinterpretation, "view.dtype view_as_complex"),
    *alike(partial(opaque, rounding=Rounding.NEVER), "aminmax msort"),
    opaque("_scaled_dot_product_efficient_attention_backward", order=(0, 2, 1, 3)),
    *alike(
        partial(opaque, lies_as=(1, 2, 3)),
        "_scaled_dot_product_cudnn_attention_backward _scaled_dot_product_flash_attention_backward",
    ),
    opaque("binary_cross_entropy", layout=Layout.FIRST),
    opaque("binary_cross_entropy_backward", layout=Layout.SECOND),
    opaque("copy_", sees_strides=False),
    opaque("fix", decides_by=(0,), rounding=Rounding.NEVER),
    opaque("isin", decides_by=None, layout=Layout.ROWS),
    opaque("normal_functional", drawn_by="aten.normal_.default"),
    opaque("special_xlog1py", layout=Layout.TOGETHER),
    opaque("sym_size", decides_by=None, sees_strides=False),
    opaque("where.default"),  # the positions of what is true
    *alike(
        _deciding,
        "adaptive_max_pool3d argsort fractional_max_pool2d fractional_max_pool3d histc max_pool3d_with_indices "
        "multinomial",
    ),
    *alike(partial(_awaited, decides_by=None), "bincount _unique _unique2 unique_consecutive"),
    *alike(_awaited, "allclose argwhere equal item _local_scalar_dense one_hot unique_dim_consecutive"),
    opaque("_ctc_loss", awaited=("default", "Tensor")),
    opaque("linalg_lstsq", awaited=("default", "out")),
    opaque("repeat_interleave", awaited=("Tensor",)),
    *alike(partial(_deciding, rounding=Rounding.NEVER), "cummax cummin mode nanmedian"),
    _whole("bernoulli", decides_by=None, drawn_by="aten.bernoulli_.float"),
    _whole("native_dropout", layout=Layout.ITERATED, drawn_by="aten.bernoulli_.float"),
    _whole("rrelu_with_noise", layout=Layout.ROWS),
    *alike(_whole, "exponential normal rrelu_with_noise_functional uniform"),
    *alike(
        partial(opaque, layout=Layout.ROWS),
        "huber_loss_backward poisson rrelu_with_noise_backward smooth_l1_loss_backward",
    ),
    *alike(partial(_in_rows_on_cuda, layout=Layout.FORMAT), "channel_shuffle max_unpool2d"),
    *alike(
        partial(_in_rows_on_cuda, layout=Layout.FORMAT_OF_SECOND),
        "reflection_pad2d_backward replication_pad2d_backward",
    ),
    _in_parts("mse_loss", layout=Layout.ITERATED),
    _in_parts("mse_loss_backward", layout=Layout.ROWS),
    *alike(_running, "cudnn_batch_norm miopen_batch_norm"),
    _running("native_batch_norm", traced=Traced.IN_PARTS, layout=Layout.FORMAT, layout_on_cuda=Layout.FIRST),
    _in_parts("native_batch_norm_backward", layout=Layout.FORMAT_OF_SECOND),
    *alike(
        _in_parts,
        "_native_batch_norm_legit _native_batch_norm_legit_functional _native_batch_norm_legit_no_training "
        "native_group_norm_backward nll_loss_backward nll_loss_forward",
    ),
)
