"""Ops of no kind: passes leave them alone, and only what their rows say is known of them."""

from functools import partial

from dovetail.dialects.torch_facts.row import Layout, ResultMemory, Rounding, Traced, opaque

# They show memory as other elements. IREE has none of it, so ATen makes them.
_reinterpretation = partial(opaque, memory=ResultMemory.OPERAND)

OPAQUE = (
    _reinterpretation("_conj", sees_strides=False),
    _reinterpretation("_neg_view", sees_strides=False),
    _reinterpretation("view.dtype"),
    _reinterpretation("view_as_complex"),
    _reinterpretation("view_as_real", sees_strides=False),
    opaque("adaptive_max_pool3d", decides_by=None),
    opaque("aminmax", rounding=Rounding.NEVER),
    opaque("argsort", decides_by=None),
    opaque("bernoulli", traced=Traced.WHOLE, decides_by=None, drawn_by="aten.bernoulli_.float"),
    opaque("binary_cross_entropy", layout=Layout.FIRST),
    opaque("bincount", decides_by=None),
    opaque("channel_shuffle", layout=Layout.FORMAT),
    opaque("copy_", sees_strides=False),
    opaque("cummax", decides_by=None, rounding=Rounding.NEVER),
    opaque("cummin", decides_by=None, rounding=Rounding.NEVER),
    opaque("exponential", traced=Traced.WHOLE),
    opaque("fix", decides_by=(0,), rounding=Rounding.NEVER),
    opaque("fractional_max_pool2d", decides_by=None),
    opaque("fractional_max_pool3d", decides_by=None),
    opaque("histc", decides_by=None),
    opaque("isin", decides_by=None, layout=Layout.ROWS),
    opaque("max_pool3d_with_indices", decides_by=None),
    opaque("max_unpool2d", layout=Layout.FORMAT),
    opaque("mode", decides_by=None, rounding=Rounding.NEVER),
    opaque("mse_loss", traced=Traced.IN_PARTS),
    opaque("mse_loss_backward", traced=Traced.IN_PARTS),
    opaque("msort", rounding=Rounding.NEVER),
    opaque("multinomial", decides_by=None),
    opaque("nanmedian", decides_by=None, rounding=Rounding.NEVER),
    opaque("native_batch_norm", traced=Traced.IN_PARTS, layout=Layout.FORMAT),
    opaque("native_batch_norm_backward", traced=Traced.IN_PARTS),
    opaque("_native_batch_norm_legit", traced=Traced.IN_PARTS),
    opaque("_native_batch_norm_legit_functional", traced=Traced.IN_PARTS),
    opaque("_native_batch_norm_legit_no_training", traced=Traced.IN_PARTS),
    opaque("native_dropout", traced=Traced.WHOLE, drawn_by="aten.bernoulli_.float"),
    opaque("native_group_norm_backward", traced=Traced.IN_PARTS),
    opaque("nll_loss_backward", traced=Traced.IN_PARTS),
    opaque("nll_loss_forward", traced=Traced.IN_PARTS),
    opaque("normal", traced=Traced.WHOLE),
    opaque("normal_functional", drawn_by="aten.normal_.default"),
    opaque("poisson", layout=Layout.ROWS),
    opaque("rrelu_with_noise", traced=Traced.WHOLE, layout=Layout.ROWS),
    opaque("rrelu_with_noise_functional", traced=Traced.WHOLE),
    opaque("special_xlog1py", layout=Layout.TOGETHER),
    opaque("uniform", traced=Traced.WHOLE),
    opaque("_unique", decides_by=None),
    opaque("_unique2", decides_by=None),
    opaque("unique_consecutive", decides_by=None),
    opaque("where.default"),  # the places of what is true
)
