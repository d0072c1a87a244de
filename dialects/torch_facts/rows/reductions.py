"""Reductions."""

from functools import partial

from dovetail.dialects.torch_facts.element_types import FLOATS, HALF_PRECISION, INTEGERS
from dovetail.dialects.torch_facts.refused import Refused
from dovetail.dialects.torch_facts.row import (
    Counts,
    Layout,
    Recompute,
    Rounding,
    Traced,
    alike,
    reduction,
)

_ADDS_APART = Refused("ATen's kernel reads once what lies apart", devices=("cuda",))
_ADDS_IN_HALF_PRECISION = Refused("adds up in half precision, eager in float32", HALF_PRECISION)
_NAN_LOSES = Refused("NaN does not win", FLOATS)
_NAN_LOSES_ALONG_DIM = Refused("NaN does not win", FLOATS, overloads=("dim",))
_NEGATIVE = Refused("negative where the correction is larger than the count")
_NOT_ON_GPUS = Refused("not measured on GPUs", devices=("cuda",))
_ONE_WORKGROUP = Refused("one workgroup computes all of it", devices=("cuda",))
_STARTS_WRONG = Refused("on a GPU, lanes that hold no whole number start from a wrong one", INTEGERS, devices=("cuda",))
_WHOLE_CRASHES = Refused("crashes the compiler", ("int8",), overloads=("default",))

_extremum = partial(reduction, rounding=Rounding.NEVER, keeps_equality=True, needs_elements=True)
_deciding = partial(reduction, keeps_equality=True, tells_subnormals=True)
_sum = partial(reduction, is_sum=True, reduces_open_rows=True, refused=(_ADDS_IN_HALF_PRECISION,))

REDUCTIONS = (
    *alike(partial(_extremum, reduces_open_rows=True, refused=(_STARTS_WRONG,)), "amax amin"),
    *alike(partial(_extremum, refused=(_NAN_LOSES_ALONG_DIM, _WHOLE_CRASHES, _NOT_ON_GPUS)), "max min"),
    *alike(partial(_deciding, refused=(_NOT_ON_GPUS,)), "all any"),
    *alike(partial(_deciding, needs_elements=True, refused=(_NAN_LOSES, _NOT_ON_GPUS)), "argmax argmin"),
    reduction("count_nonzero", reduces_at=None, tells_subnormals=True, refused=(_NOT_ON_GPUS,)),
    reduction(
        "cumsum",
        keeps_equality=True,
        recompute=Recompute.WORK,
        refused=(Refused("adds up in the element type, eager in a wider one", FLOATS), _ONE_WORKGROUP),
    ),
    _deciding("linalg_vector_norm", reduces_at=2, refused=(_ADDS_IN_HALF_PRECISION, _NOT_ON_GPUS)),
    reduction("_log_softmax", layout=Layout.ROWS, traced=Traced.IN_PARTS),
    reduction("_log_softmax_backward_data", reduces_at=2, layout=Layout.ROWS, traced=Traced.IN_PARTS),
    reduction("logsumexp", refused=(_NOT_ON_GPUS,)),
    _sum("mean"),
    reduction("native_group_norm", reduces_at=None, sees_strides=True, refused=(_ADDS_IN_HALF_PRECISION, _NOT_ON_GPUS)),
    reduction("native_layer_norm", reduces_at=None, layout=Layout.ROWS, refused=(_NOT_ON_GPUS,)),
    _deciding("norm", reduces_at=2, refused=(_NOT_ON_GPUS,)),
    reduction("prod", refused=(_ADDS_IN_HALF_PRECISION, _NOT_ON_GPUS)),
    reduction("_softmax", traced=Traced.IN_PARTS),
    reduction("_softmax_backward_data", reduces_at=2, traced=Traced.IN_PARTS),
    reduction("std", tells_subnormals=True, refused=(_NOT_ON_GPUS,)),
    _sum("sum", counts=Counts.ADDED),
    reduction("var", refused=(_NEGATIVE, _NOT_ON_GPUS)),
    reduction("var_mean", tells_subnormals=True, refused=(_ADDS_APART, _NEGATIVE)),
)
