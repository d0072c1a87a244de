"""Calls that ops' schemas do not tell, and the tensors that stand in them."""

from dataclasses import dataclass

import torch

from dovetail.tools.sweep.values import DTYPES


@dataclass(frozen=True)
class Slot:
    """A place in a call where a tensor goes; `dtype` overrides the case's."""

    name: str
    dtype: torch.dtype | None = None


X, Y, Z, MASK, ROWS = Slot("x"), Slot("y"), Slot("z"), Slot("mask"), Slot("rows")
_DIMS = ((ROWS, [-1]), (ROWS, [0], True), (ROWS, [0, 1]))
_DIM = ((ROWS, -1), (ROWS, 0))
_CASTS = tuple(((X,), {"dtype": dtype}) for dtype in DTYPES)
_CREATED = tuple({"dtype": dtype} for dtype in (torch.float32, torch.int64, torch.bool, torch.bfloat16))
_FILLS = (2, -1, 0.5, float("inf"), float("nan"))
_SOFTMAX = ((ROWS, -1, False), (ROWS, 0, False))
_NORMS = (
    (ROWS, 2),
    (ROWS, 1, [-1]),
    (ROWS, float("inf"), [-1]),
    (ROWS, 0, [0]),
    (ROWS, 3.0, [-1]),
    (ROWS, float("-inf")),
)

# Calls that the schema does not tell: positional arguments, or (positional arguments, keyword arguments).
CALLS: dict[str, tuple] = {
    "_to_copy.default": _CASTS,
    "add.Tensor": ((X, Y), ((X, Y), {"alpha": -1}), ((X, Y), {"alpha": 0.5})),
    "sub.Tensor": ((X, Y), ((X, Y), {"alpha": -1}), ((X, Y), {"alpha": 0.5})),
    "rsub.Tensor": ((X, Y), ((X, Y), {"alpha": -1})),
    "addcmul.default": ((X, Y, Z), ((X, Y, Z), {"value": 2})),
    "addcdiv.default": ((X, Y, Z), ((X, Y, Z), {"value": 0.5})),
    "bitwise_left_shift.Tensor_Scalar": ((X, 2),),
    "bitwise_right_shift.Tensor_Scalar": ((X, 2),),
    "clamp.default": ((X, -1, 2), (X, None, 2), (X, -1, None), (X, -0.5, 1.5), (X, 2, -1)),
    "celu.default": ((X,), (X, 0.5)),
    "clamp.Tensor": ((X, Y, Z), (X, Y, None), (X, None, Y)),
    "div.Tensor_mode": tuple(((X, Y), {"rounding_mode": mode}) for mode in ("floor", "trunc", None)),
    "div.Scalar_mode": tuple(((X, 3), {"rounding_mode": mode}) for mode in ("floor", "trunc", None)),
    "elu.default": ((X,), (X, 0.5, 2, 0.5)),
    "elu_backward.default": ((Y, 1, 1, 1, False, X), (Y, 1, 1, 1, True, X)),
    "gelu.default": ((X,), ((X,), {"approximate": "tanh"})),
    "gelu_backward.default": ((Y, X), ((Y, X), {"approximate": "tanh"})),
    "hardtanh.default": ((X,), (X, -2, 0.5)),
    "hardtanh_backward.default": ((Y, X, -1, 1),),
    "leaky_relu.default": ((X,), (X, 0.2)),
    "leaky_relu_backward.default": ((Y, X, 0.01, False),),
    "lerp.Scalar": ((X, Y, 0.3), (X, Y, 0.7)),
    "logit.default": ((X,), (X, 0.1)),
    "masked_fill.Scalar": ((X, MASK, 2), (X, MASK, float("-inf"))),
    "masked_fill.Tensor": ((X, MASK, Slot("scalar")),),
    "nan_to_num.default": ((X,), (X, 1.0, 2.0, -2.0)),
    "pow.Tensor_Scalar": tuple((X, power) for power in (2, 3, 0.5, -1, -2, -0.5, 0, 1, 1.5, -3)),
    "pow.Scalar": ((2, X), (0.5, X), (-2, X), (0, X), (10.0, X)),
    "round.decimals": tuple(((X,), {"decimals": decimals}) for decimals in (1, -1)),
    "softplus.default": ((X,), (X, 2, 1)),
    "softplus_backward.default": ((Y, X, 1, 20),),
    "threshold.default": ((X, 0.5, 2),),
    "threshold_backward.default": ((Y, X, 0), (Y, X, 0.5)),
    "tril.default": ((X,), (X, 1)),
    "triu.default": ((X,), (X, -1)),
    "where.self": ((MASK, X, Y),),
    "log_sigmoid_backward.default": ((Y, X, Slot("z")),),
    "_softmax.default": _SOFTMAX,
    "_log_softmax.default": _SOFTMAX,
    "_softmax_backward_data.default": ((ROWS, ROWS, -1, "dtype"),),
    "_log_softmax_backward_data.default": ((ROWS, ROWS, -1, "dtype"),),
    **dict.fromkeys("all.default any.default max.default min.default sum.default prod.default".split(), ((ROWS,),)),
    **dict.fromkeys("all.dim any.dim max.dim min.dim prod.dim_int cumsum.default".split(), _DIM),
    **dict.fromkeys(("argmax.default", "argmin.default"), ((ROWS,), *_DIM)),
    **dict.fromkeys(("amax.default", "amin.default", "all.dims", "any.dims", "mean.dim", "sum.dim_IntList"), _DIMS),
    "logsumexp.default": ((ROWS, [-1]), (ROWS, [0], True)),
    "mean.default": ((ROWS,),),
    "count_nonzero.default": ((ROWS,), (ROWS, -1)),
    "count_nonzero.dim_IntList": ((ROWS, [-1]),),
    "linalg_vector_norm.default": _NORMS,
    "norm.Scalar": ((ROWS, 2), (ROWS, 1)),
    "norm.ScalarOpt_dim": ((ROWS, 2, [-1]),),
    "norm.ScalarOpt_dim_dtype": (((ROWS, 2, [-1], False), {"dtype": torch.float64}),),
    "norm.ScalarOpt_dtype": (((ROWS, 2), {"dtype": torch.float64}),),
    **dict.fromkeys(("var.correction", "std.correction", "var_mean.correction"), (
        (ROWS, [-1]), ((ROWS, [0]), {"correction": 0}), (ROWS,))),
    "native_layer_norm.default": ((ROWS, [16], None, None, 1e-5),),
    "native_group_norm.default": ((ROWS, None, None, 16, 4, 4, 2, 1e-5),),
    "native_layer_norm_backward.default": (
        (Y, X, [16], Slot("column"), Slot("column"), None, None, [True, True, True]),),
    "cat.default": (([X, Y],), ([X, Y], 1)),
    "stack.default": (([X, Y],), ([X, Y], 1)),
    "constant_pad_nd.default": ((X, [1, 2]), (X, [0, 1, 2, 0], 3), (X, [-1, -2])),
    "diagonal_scatter.default": ((X, Slot("row")),),
    "flip.default": ((X, [0]), (X, [0, 1])),
    "pixel_shuffle.default": ((Slot("image"), 2),),
    "repeat.default": ((X, [2, 3]), (X, [2, 1, 3])),
    "roll.default": ((X, [3], [0]), (X, [1, -2], [0, 1]), (X, [5])),
    "rot90.default": ((X,), (X, 2)),
    "select_backward.default": ((Slot("row"), [16, 16], 0, 3), (Slot("row"), [16, 16], 1, -1)),
    "select_scatter.default": ((X, Slot("row"), 0, 3), (X, Slot("row"), 1, -1)),
    "slice_backward.default": ((X, [16, 40], 1, 2, 34, 2),),
    "slice_scatter.default": ((Slot("tall"), X, 0, 2, 18), (Slot("tall"), X, 0, 0, 32, 2)),
    "unfold_backward.default": ((Slot("windows"), [16, 16], 1, 4, 4),),
    "arange.default": tuple(((7,), options) for options in _CREATED[:2]),
    "arange.start": (((2, 7), {"dtype": torch.int64}), ((0.5, 7), {"dtype": torch.float32})),
    "arange.start_step": (
        ((2, 17, 3), {"dtype": torch.int64}), ((0.5, 3, 0.3), {"dtype": torch.float32}), ((5, -5, -2), {})),
    "empty.memory_format": (),
    "empty_like.default": (),
    "empty_strided.default": (),
    "new_empty.default": (),
    "new_empty_strided.default": (),
    "eye.default": tuple(((5,), options) for options in _CREATED),
    "eye.m": tuple(((5, 3), options) for options in _CREATED),
    "fill.Scalar": ((X, 2), (X, 1.5), (X, float("nan")), (X, float("-inf"))),
    "fill.Tensor": ((X, Slot("scalar")),),
    "full.default": tuple((([3, 5], value), options) for value in _FILLS for options in (*_CREATED, {})),
    "full_like.default": ((X, 2), (X, 0.5), (X, float("nan"))),
    "linspace.default": (
        ((0, 1, 7), {"dtype": torch.float32}), ((3, -2, 5), {"dtype": torch.float64}),
        ((0, 9, 4), {"dtype": torch.int64})),
    "linspace.Tensor_Tensor": (), "linspace.Tensor_Scalar": (), "linspace.Scalar_Tensor": (),
    "new_full.default": ((X, [3], 2), (X, [3], 0.5)),
    "new_ones.default": ((X, [3, 2]),),
    "new_zeros.default": ((X, [3, 2]),),
    "ones.default": tuple((([3],), options) for options in _CREATED),
    "zeros.default": tuple((([3],), options) for options in _CREATED),
    "ones_like.default": ((X,), *(((X,), options) for options in _CREATED)),
    "zeros_like.default": ((X,), *(((X,), options) for options in _CREATED)),
    "scalar_tensor.default": tuple(((value,), options) for value in _FILLS for options in (*_CREATED, {})),
    "_reshape_alias.default": ((X, [8, 32], [32, 1]),),
    "_unsafe_view.default": ((X, [8, 32]),),
    "view.default": ((X, [8, 32]), (X, [-1]), (X, [16, 1, 4, 4])),
    "as_strided.default": (),
    "diagonal.default": ((X,), (X, 2), (X, -3)),
    "expand.default": ((X, [2, 16, 16]), (Slot("scalar"), [3, 2])),
    "permute.default": ((X, [1, 0]),),
    "select.int": ((X, 0, 3), (X, 1, -1)),
    "slice.Tensor": ((X, 0, 2, 9), (X, 1, 1, 15, 3), (X, 1, -5, 2**63 - 1)),
    "split.Tensor": ((X, 5), (X, 4, 1)),
    "split_with_sizes.default": ((X, [4, 12], 1),),
    "squeeze.default": ((X,), (Slot("image"),)),
    "squeeze.dim": ((Slot("column"), 1), (X, 0)),
    "squeeze.dims": ((Slot("column"), [0, 1]),),
    "transpose.int": ((X, 0, 1),),
    "unbind.int": ((Slot("tall"), 1),),
    "unfold.default": ((X, 1, 4, 4), (X, 0, 3, 2)),
    "unsqueeze.default": ((X, 0), (X, -1)),
    "view.dtype": (),
}  # fmt: skip
