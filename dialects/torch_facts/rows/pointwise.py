"""Pointwise ops: one element of the result from one of each operand."""

from dataclasses import replace
from functools import partial

from dovetail.dialects.torch_facts.element_types import DOUBLES, FLOATS, HALF_PRECISION, INTEGERS
from dovetail.dialects.torch_facts.refused import DecidedBy, Refused, When
from dovetail.dialects.torch_facts.row import (
    Counts,
    Layout,
    ResultMemory,
    Rounding,
    Traced,
    alike,
    pointwise,
)

_CANCELS = Refused("computes exp(x) - 1, which rounds small numbers away", FLOATS)
_CANCELS_DOUBLES = Refused("computes 1 + x or exp(x) - 1, which rounds small numbers away", DOUBLES)
_COMPARES_TRUTH = Refused("truth values compare as -1", ("bool",), overloads=("Scalar",), decided_by=DecidedBy.FIRST)
_CRASHES = Refused("crashes the compiler", ("int8",), overloads=("Scalar",))
_DROPS_NAN = Refused("drops NaN", FLOATS)
_FAILS = Refused("does not compile")
_FOLDED = Refused("of constants it is folded to a wrong one", FLOATS, decided_by=DecidedBy.FIRST, when=When.FOLDED)
_FOLDED_HALF_PRECISION = replace(_FOLDED, dtypes=HALF_PRECISION, overloads=("Scalar",))
_INEXACT = Refused("off by thirty times eager's error", FLOATS)
_NARROW_SIXTH = Refused("eager's sixth is a float32 number in float64 too", DOUBLES)
_NO_BROADCAST = Refused("does not compile for operands of different sizes")
_NO_DOUBLES = Refused("float64 version does not link", DOUBLES)
_NO_TRUTH = Refused("truth values do not compile, or compare as -1", ("bool",))
_OVERFLOWS = Refused("wrong where an intermediate result overflows")
_OVERFLOWS_HALF_PRECISION = Refused("overflows: it computes in float16", ("float16",), overloads=("decimals",))
_ROUNDS_QUOTIENTS = Refused("rounds the quotient before it takes the floor")
_SHIFTS_TOO_FAR = Refused("wrong for shifts by the width or more", when=When.TOO_FAR)
_SHORT_RANGE = Refused("wrong for large arguments: its range reduction is too short", DOUBLES)
_TWO_TYPES = Refused("operands of two types do not compile, or truth values compare as -1", when=When.OF_TWO_TYPES)

_WRONG_POWERS = Refused("wrong for negative bases, zeros and infinities, and whole numbers do not compile")

_keeping = partial(pointwise, rounding=Rounding.NEVER)
_copying = partial(_keeping, is_by_position=True, knows_uint8=True, converts=True)
_telling = partial(pointwise, tells_subnormals=True)
_stepping = partial(_keeping, tells_subnormals=True, decides_by=(0,))
_rounding = partial(_telling, decides_by=(0, 1), refused=(_ROUNDS_QUOTIENTS,))
_in_parts = partial(pointwise, traced=Traced.IN_PARTS)
_together = partial(pointwise, layout=Layout.TOGETHER)

POINTWISE = (
    pointwise(
        "add",
        is_commutative=True,
        adds=True,
        rounding=Rounding.ONCE,
        refused=(Refused("adds truth values modulo 2", ("bool",), decided_by=DecidedBy.RESULT),),
    ),
    _in_parts("addcdiv", tells_subnormals=True),
    pointwise("angle", decides_by=(0,), rounding=Rounding.ONCE, tells_subnormals=True),
    _telling("atan2", refused=(Refused("NaN instead of a value where both arguments are zero or infinite"),)),
    pointwise("atanh", refused=(Refused("rounds small numbers away", FLOATS), _NO_DOUBLES)),
    pointwise("bitwise_not", knows_uint8=True),
    _keeping("clone", layout=Layout.COPIED, is_identity=True, is_by_position=True, format_at=1, knows_uint8=True),
    _keeping("contiguous", memory=ResultMemory.BY_STRIDES, is_identity=True, is_by_position=True),
    _keeping("convert_element_type", memory=ResultMemory.BY_STRIDES, knows_uint8=True, converts=True),
    _stepping("copysign", layout=Layout.TOGETHER, decides_by=(0, 1), refused=(_FAILS,)),
    pointwise("div", rounding=Rounding.ONCE, tells_subnormals=True),
    _rounding("div.Scalar_mode"),
    _together("elu_backward", decides_by=(5,), tells_subnormals=True),
    pointwise("erfinv", refused=(_FAILS,)),
    _telling("fmod", decides_by=(0, 1), refused=(Refused("wrong near whole quotients, and fails for constants"),)),
    pointwise("frac", decides_by=(0,)),
    _together("hardsigmoid_backward", decides_by=(1,), refused=(_NARROW_SIXTH,)),
    pointwise("hardswish", layout=Layout.ITERATED),
    _together("hardswish_backward", decides_by=(1,), tells_subnormals=True),
    _keeping("hardtanh", refused=(_DROPS_NAN, _NO_TRUTH), layout=Layout.FIRST),
    _together("hardtanh_backward", decides_by=(1,), tells_subnormals=True, refused=(Refused("wrong at the bounds"),)),
    _telling("leaky_relu_backward", decides_by=(1,)),
    _in_parts("lerp", weighs=True),
    _keeping("lift_fresh_copy", is_identity=True, is_by_position=True),
    _telling("log10", refused=(_FAILS,)),
    _telling("log2", refused=(_NO_DOUBLES,)),
    pointwise("log_sigmoid_forward", layout=Layout.ROWS, layout_on_cuda=Layout.FIRST),
    _telling("logical_not"),
    pointwise("mul", is_commutative=True, multiplies=True, refused=(_CRASHES,)),
    _keeping("nan_to_num", tells_subnormals=True, layout=Layout.FIRST),
    _keeping("neg", refused=(Refused("goes through floating point", ("int32", "int64")),)),
    _telling("pow", refused=(_WRONG_POWERS,)),
    _telling("pow.Scalar", layout=Layout.ROWS, refused=(_WRONG_POWERS,)),
    _telling(
        "remainder",
        decides_by=(0, 1),
        refused=(
            Refused("wrong for large quotients, and float64 does not link", FLOATS),
            Refused("eager raises for a divisor 0", INTEGERS, overloads=("Scalar_Tensor", "Tensor")),
            _CRASHES,
            replace(_FOLDED, dtypes=INTEGERS, overloads=("Scalar",)),
        ),
    ),
    _keeping("round", decides_by=(0,), refused=(_OVERFLOWS_HALF_PRECISION,)),
    pointwise("rsub", adds=True, rounding=Rounding.ONCE, refused=(_CRASHES,)),
    _stepping("sign", refused=(_FOLDED,)),
    _telling("signbit", refused=(_FAILS,)),
    _together("softplus_backward"),
    pointwise("sub", adds=True, rounding=Rounding.ONCE, refused=(_CRASHES,)),
    _in_parts(
        "threshold_backward",
        decides_by=(1,),
        tells_subnormals=True,
        layout=Layout.SWAPPED,
        refused=(replace(_CRASHES, overloads=()),),
    ),
    _keeping("to", memory=ResultMemory.BY_STRIDES, is_by_position=True),
    _keeping("trunc", decides_by=(0,), refused=(_FOLDED,)),
    _together("xlogy", tells_subnormals=True),
    *alike(_keeping, "abs relu"),
    *alike(partial(_keeping, refused=(_DROPS_NAN,)), "max.other maximum min.other minimum"),
    *alike(partial(_keeping, refused=(_DROPS_NAN, _NO_TRUTH)), "clamp clamp_max clamp_min"),
    *alike(partial(_keeping, refused=(_NO_BROADCAST,)), "fmax fmin"),
    _keeping("masked_fill", layout=Layout.COPIED, knows_uint8=True),
    _keeping("where", knows_uint8=True),
    *alike(partial(_keeping, is_by_position=True, layout=Layout.ROWS), "tril triu"),
    _copying("copy"),
    _copying("_to_copy", counts=Counts.MADE),
    *alike(_stepping, "ceil floor heaviside sgn threshold"),
    *alike(_telling, "digamma hypot lgamma log logit reciprocal rsqrt sqrt"),
    *alike(partial(_telling, decides_by=()), "isfinite isinf isnan"),
    *alike(partial(_telling, is_commutative=True, refused=(_TWO_TYPES, _FOLDED_HALF_PRECISION)), "eq ne"),
    *alike(partial(_telling, refused=(_COMPARES_TRUTH, _TWO_TYPES, _FOLDED_HALF_PRECISION)), "ge gt le lt"),
    *alike(partial(_telling, is_commutative=True), "logical_and logical_or logical_xor"),
    *alike(partial(_rounding, layout=Layout.TOGETHER), "div.Tensor_mode floor_divide"),
    *alike(partial(pointwise, is_commutative=True, knows_uint8=True), "bitwise_and bitwise_or bitwise_xor"),
    *alike(
        partial(pointwise, refused=(_SHIFTS_TOO_FAR,)), "__lshift__ __rshift__ bitwise_left_shift bitwise_right_shift"
    ),
    *alike(partial(pointwise, refused=(_CANCELS,)), "celu elu"),
    *alike(partial(pointwise, refused=(_CANCELS_DOUBLES,)), "expm1 log1p"),
    *alike(partial(pointwise, refused=(_SHORT_RANGE,)), "cos sin tan"),
    *alike(partial(pointwise, refused=(_OVERFLOWS,)), "cosh sinh"),
    *alike(partial(pointwise, refused=(_OVERFLOWS, _NO_DOUBLES)), "acosh asinh"),
    *alike(partial(pointwise, refused=(_INEXACT, _NO_DOUBLES)), "atan exp2"),
    *alike(partial(pointwise, refused=(_NO_DOUBLES,)), "acos asin erf erfc mish tanh"),
    *alike(partial(_in_parts, refused=(_NO_DOUBLES,)), "gelu gelu_backward"),
    *alike(_in_parts, "addcmul sigmoid_backward silu silu_backward tanh_backward"),
    *alike(partial(pointwise, layout=Layout.FIRST), "deg2rad rad2deg"),
    *alike(pointwise, "exp hardsigmoid ldexp leaky_relu log_sigmoid_backward sigmoid softplus square"),
)
