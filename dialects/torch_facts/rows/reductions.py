"""Reductions."""

from dovetail.dialects.torch_facts.row import FLOATS, HALVES, Layout, Recompute, Refused, Rounding, Traced, reduction

_ADDS_IN_HALVES = Refused("adds up in half precision, eager in float32", HALVES)
_NAN_LOSES = Refused("NaN does not win", FLOATS)
_NAN_LOSES_ALONG_DIM = Refused("NaN does not win", FLOATS, overloads=("dim",))
_NEGATIVE = Refused("negative where the correction is larger than the count")
_WHOLE_CRASHES = Refused("crashes the compiler", ("int8",), overloads=("default",))

REDUCTIONS = (
    reduction("all", keeps_equality=True, tells_subnormals=True),
    reduction("amax", rounding=Rounding.NEVER, keeps_equality=True),
    reduction("amin", rounding=Rounding.NEVER, keeps_equality=True),
    reduction("any", keeps_equality=True, tells_subnormals=True),
    reduction("argmax", keeps_equality=True, tells_subnormals=True, refused=(_NAN_LOSES,)),
    reduction("argmin", keeps_equality=True, tells_subnormals=True, refused=(_NAN_LOSES,)),
    reduction("count_nonzero", tells_subnormals=True),
    reduction(
        "cumsum",
        keeps_equality=True,
        recompute=Recompute.WORK,
        refused=(Refused("adds up in the element type, eager in a wider one", FLOATS),),
    ),
    reduction("linalg_vector_norm", keeps_equality=True, tells_subnormals=True, refused=(_ADDS_IN_HALVES,)),
    reduction("_log_softmax", traced=Traced.IN_PARTS),
    reduction("_log_softmax_backward_data", layout=Layout.ROWS, traced=Traced.IN_PARTS),
    reduction("logsumexp"),
    reduction("max", rounding=Rounding.NEVER, keeps_equality=True, refused=(_NAN_LOSES_ALONG_DIM, _WHOLE_CRASHES)),
    reduction("mean", refused=(_ADDS_IN_HALVES,)),
    reduction("min", rounding=Rounding.NEVER, keeps_equality=True, refused=(_NAN_LOSES_ALONG_DIM, _WHOLE_CRASHES)),
    reduction("native_group_norm", sees_strides=True, refused=(_ADDS_IN_HALVES,)),
    reduction("native_layer_norm"),
    reduction("native_layer_norm_backward", layout=Layout.ROWS, sees_strides=True, traced=Traced.IN_PARTS),
    reduction("norm", keeps_equality=True, tells_subnormals=True),
    reduction("prod", refused=(_ADDS_IN_HALVES,)),
    reduction("_softmax", traced=Traced.IN_PARTS),
    reduction("_softmax_backward_data", traced=Traced.IN_PARTS),
    reduction("std", tells_subnormals=True),
    reduction("sum", refused=(_ADDS_IN_HALVES,)),
    reduction("var", refused=(_NEGATIVE,)),
    reduction("var_mean", tells_subnormals=True, refused=(_NEGATIVE,)),
)
