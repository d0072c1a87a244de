"""What is known of torch ops down to the last bit: which depend on it, which keep it, and which compute it anew.

Compiled twice, by IREE in two fusions or by IREE and by ATen, most floating-point arithmetic differs in the last bit:
products are fused with the sums that use them, transcendental functions are approximated per target, sums are added in
another order.
"""

from torch_mlir import ir

from dovetail.dialects.torch_facts.ops import LIBRARY, Kind, aten_name, kind
from dovetail.dialects.torch_facts.types import tensor_info


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Besides whatever makes whole numbers or truth values, these are discontinuous: by the places of what they decide by.
_DECIDING = {
    **dict.fromkeys(_names("ceil floor fix frac heaviside round sgn sign trunc threshold"), (0,)),
    **dict.fromkeys(_names("copysign floor_divide fmod remainder"), (0, 1)),
    **dict.fromkeys(_names("hardsigmoid_backward hardswish_backward hardtanh_backward leaky_relu_backward "
                           "threshold_backward"), (1,)),
    "elu_backward": (5,),
}  # fmt: skip
_ROUNDED_QUOTIENTS = _names("aten.div.Tensor_mode aten.div.Scalar_mode")
# Not even these depend on a last bit.
_INDIFFERENT = _names("isfinite isinf isnan isneginf isposinf")
# Of ops without a kind, these make indices, orders or counts; whole numbers of others are none of their operands'.
_CHOOSING = _names(
    "adaptive_max_pool3d argsort bernoulli bincount cummax cummin fractional_max_pool2d fractional_max_pool3d histc "
    "max_pool3d_with_indices mode multinomial nanmedian unique_consecutive _unique _unique2"
)

# One correctly rounded operation, or none, for each element; in half precision, how often it is rounded depends on what
# it is fused with.
_PICKING = _names(
    "abs amax amin aminmax clamp clamp_max clamp_min clone contiguous convert_element_type copy cummax cummin detach "
    "hardtanh kthvalue lift_fresh_copy masked_fill max maximum median min minimum mode nan_to_num nanmedian neg relu "
    "sort to _to_copy topk tril triu where gather index index_select masked_select take embedding msort"
)
_ROUNDED = _names("add div rsub sub")
_SINGLE = ("float32", "float64")

# Reductions after which equal numbers are found again in what was reduced; others blend.
_KEEPING = _names("all amax amin any argmax argmin cumsum linalg_vector_norm max min norm")
_BLENDING = ("contraction", "convolution", "attention", "linear algebra")


def deciding_operands(op: ir.Operation) -> tuple[ir.Value, ...]:
    """The operands whose last bit can change the result of `op` by more than that; () for an op of none.

    Comparisons, rounding, indices, orders, and whatever else makes whole numbers or truth values of numbers.
    """
    name = aten_name(op)
    if name is None:
        return ()
    base, operands = name.split(".")[1], list(op.operands)
    if base in _DECIDING:
        places = _DECIDING[base]
        chosen = [value for place, value in enumerate(operands) if place in places]
    elif name in _ROUNDED_QUOTIENTS or (base not in _INDIFFERENT and _makes_integers(op, base)):
        chosen = operands
    else:
        return ()
    return tuple(value for value in chosen if is_number(value))


def is_number(value: ir.Value) -> bool:
    """Whether `value` is a tensor of numbers, or a list: no Python value, and no truth values."""
    info = tensor_info(value.type)
    return info.dtype != "bool" if info is not None else str(value.type).startswith("!torch.list<vtensor")


def is_repeatable(op: ir.Operation) -> bool:
    """Whether `op` gives the same bits for the same operands, wherever and beside whatever it is computed.

    A product alone would, but not together with a sum that uses it.
    """
    what, name = kind(op), aten_name(op)
    if what in (Kind.CONSTANT, Kind.VIEW, Kind.MOVEMENT, Kind.CREATION) or name is None:
        return True
    infos = [info for value in op.results if (info := tensor_info(value.type)) is not None]
    if not any(info.dtype.startswith(("float", "bfloat", "complex")) for info in infos):
        return True
    base = name.split(".")[1]
    if base in _PICKING or base in _DECIDING:
        return base not in ("fmod", "frac", "remainder", "floor_divide") and "backward" not in base
    return base in _ROUNDED and name not in _ROUNDED_QUOTIENTS and all(info.dtype in _SINGLE for info in infos)


def keeps_equality(op: ir.Operation) -> bool:
    """Whether numbers that are equal before `op` may have to be equal after it: not where it blends many into one."""
    what, name = kind(op), aten_name(op)
    base = name.split(".")[1] if name else ""
    if what is Kind.REDUCTION:
        return base in _KEEPING
    return what is not Kind.LIBRARY or LIBRARY[base] not in _BLENDING


def _makes_integers(op: ir.Operation, base: str) -> bool:
    what = kind(op)
    if what not in (Kind.POINTWISE, Kind.REDUCTION, Kind.LIBRARY) and base not in _CHOOSING:
        return False
    infos = [tensor_info(value.type) for value in op.results]
    return any(info is not None and not info.dtype.startswith(("float", "bfloat", "complex")) for info in infos)
