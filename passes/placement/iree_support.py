"""What must not be handed to IREE: element types and ops that it refuses, or compiles to wrong numbers.

Measured with IREE 3.13.0 by `make sweep`; its findings are in docs/op-sweep.md. What a decomposition makes right
(frontend/decompose/table.py) is refused here only where that leaves ops of the same name behind.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from dovetail.dialects.calls import is_extern
from dovetail.dialects.torch_facts.ops import Kind, kind_of_name
from dovetail.dialects.torch_facts.types import TensorInfo, tensor_info

_FLOATS = frozenset("float16 bfloat16 float32 float64".split())
_INTEGERS = frozenset("bool int8 int16 int32 int64 uint8".split())
_NARROW = frozenset("int8 uint8 int16".split())
_DTYPES = _FLOATS | _INTEGERS


@dataclass(frozen=True)
class _Rule:
    """Ops (names without namespace, perhaps with overload) that are refused on some element types of their operands."""

    reason: str
    ops: frozenset[str]
    dtypes: frozenset[str]


def _rule(reason: str, ops: str, dtypes: Iterable[str] = _DTYPES) -> _Rule:
    return _Rule(reason, frozenset(ops.split()), frozenset(dtypes))


# Of what has no operand, the result's element type decides; of these ops, which compare, it says nothing.
_COMPARISONS = frozenset("eq ne ge gt le lt isnan isinf logical_and logical_or logical_xor logical_not any all".split())


_RULES = (
    _rule("wrong for large arguments: its range reduction is too short", "sin cos tan"),
    _rule("wrong where an intermediate result overflows", "asinh acosh cosh sinh"),
    _rule("NaN instead of a value where both arguments are zero or infinite", "atan2"),
    _rule("wrong near whole quotients, and fails for constants", "fmod"),
    _rule("rounds the quotient before it takes the floor", "div.Tensor_mode div.Scalar_mode floor_divide"),
    _rule("wrong for large quotients, and float64 does not link", "remainder", _FLOATS),
    # An integer division by zero raises in eager, and would kill the process in compiled code.
    _rule("eager raises for a divisor 0", "remainder.Tensor remainder.Scalar_Tensor", _INTEGERS),
    _rule("crashes the compiler", "remainder.Scalar mul.Scalar sub.Scalar", ("int8",)),
    _rule("wrong for negative bases, zeros and infinities, and whole numbers do not compile", "pow"),
    _rule("wrong at the bounds", "hardtanh_backward"),
    _rule("drops NaN", "maximum minimum max.other min.other clamp clamp_min clamp_max hardtanh", _FLOATS),
    _rule("truth values do not compile, or compare as -1", "clamp clamp_min clamp_max hardtanh", ("bool",)),
    _rule("truth values compare as -1", "ge.Scalar gt.Scalar le.Scalar lt.Scalar", ("bool",)),
    _rule("does not compile", "copysign erfinv log10 signbit"),
    _rule("goes through floating point", "neg", ("int32", "int64")),
    _rule("wrong for shifts by the width or more", "bitwise_left_shift bitwise_right_shift"),
    _rule("overflows: it computes in float16", "round.decimals", ("float16",)),
    _rule("adds up in half precision, eager in float32", "sum mean prod linalg_vector_norm "
          "native_group_norm", ("float16", "bfloat16")),
    _rule("negative where the correction is larger than the count", "var var_mean"),
    _rule("adds up in the element type, eager in a wider one", "cumsum", _FLOATS),
    _rule("does not compile", "diagonal_scatter"),
    _rule("does not compile", "arange", _FLOATS),
    _rule("does not compile", "full full_like vtensor.literal", ("uint8",)),
    _rule("NaN does not win", "argmax argmin max.dim min.dim", _FLOATS),
    _rule("crashes the compiler", "max.default min.default", ("int8",)),
    _rule("miscompiled: inf instead of a finite sum", "logcumsumexp"),
    _rule("off by thirty times eager's error", "atan exp2", _FLOATS),
    _rule("computes 1 + x or exp(x) - 1, which rounds small numbers away", "log1p expm1", ("float64",)),
    _rule("computes exp(x) - 1, which rounds small numbers away", "elu celu selu", _FLOATS),
    _rule("rounds small numbers away", "atanh", _FLOATS),
    _rule("eager's sixth is a float32 number in float64 too", "hardsigmoid_backward", ("float64",)),
    _rule("float64 version does not link", "acos acosh asin asinh atan atanh erf erfc gelu gelu_backward tanh mish "
          "exp2 log2", ("float64",)),
)  # fmt: skip

# uint8 is taken for a signed number by all but these; ops that only move elements are right.
_UNSIGNED = frozenset(
    "_to_copy convert_element_type clone copy where masked_fill bitwise_and bitwise_or bitwise_xor bitwise_not".split()
)


def refusal(name: str, tensors: Sequence[TensorInfo | None]) -> str:
    """Why IREE can't compile the ATen overload `name` on tensors like these, its operands and results; "" if it can."""
    dtypes = {info.dtype for info in tensors if info is not None}
    for dtype in sorted(dtypes - _DTYPES):
        return f"element type {dtype} can't be imported"
    _, base, overload = name.split(".") if name.count(".") == 2 else ("", name, "")
    decisive = {info.dtype for info in tensors[:1] if info is not None} if base in _COMPARISONS else dtypes
    for rule in _RULES:
        if decisive & rule.dtypes and (base in rule.ops or f"{base}.{overload}" in rule.ops):
            return rule.reason
    if not overload:
        return ""
    kind, value = kind_of_name(name), tensors[0] if tensors else None
    if kind is Kind.REDUCTION and value is not None and (value.shape == () or value.numel == 0):
        return "reductions of 0-dim tensors do not compile, those of empty ones are not all right"
    if "uint8" in dtypes and kind in (Kind.POINTWISE, Kind.REDUCTION) and base not in _UNSIGNED:
        return "uint8 is taken for a signed number"
    if kind in (Kind.POINTWISE, Kind.REDUCTION) and _narrows(value, tensors[-1]):
        return "saturates where the machine's packing does"
    if base == "add" and tensors and tensors[-1] is not None and tensors[-1].dtype == "bool":
        return "adds truth values modulo 2"
    if name == "aten.constant_pad_nd.default" and value is not None and _shrinks(value, tensors[-1]):
        return "negative padding does not compile"
    return ""


# Right in code, wrong where IREE computes them while it compiles: of most, fold-constants leaves it none.
_MISFOLDED = {
    "torch.aten.remainder.Scalar": _INTEGERS,
    "torch.aten.trunc": _FLOATS,
    "torch.aten.sign": _FLOATS,
    **{f"torch.aten.{name}.Scalar": frozenset(("float16", "bfloat16")) for name in "eq ne ge gt le lt".split()},
}


def folding_refusal(op: ir.Operation) -> str:
    """Why IREE can't compile `op` on these operands, though it can on others like them; "" if it can."""
    dtypes = _MISFOLDED.get(op.name, ())
    info = tensor_info(op.operands[0].type) if dtypes else None
    if info is None or info.dtype not in dtypes or not _is_known(op.operands[0]):
        return ""
    return "of constants it is folded to a wrong one"


def _is_known(value: ir.Value) -> bool:
    """Whether torch ops compute `value` from constants alone, an `arange` apart: that is not folded."""
    pending, met = [value], {value}
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, ir.Block):
            return False
        owner = owner.operation  # the view of a `torch.operator` has an attribute called name
        if not owner.name.startswith("torch.") or is_extern(owner):
            return False
        if owner.name.startswith("torch.aten.arange"):
            return False
        more = set(owner.operands) - met
        met |= more
        pending += more
    return True


def _narrows(value: TensorInfo | None, result: TensorInfo | None) -> bool:
    """Whether floating-point numbers become integers of fewer than 32 bits."""
    return value is not None and result is not None and value.dtype in _FLOATS and result.dtype in _NARROW


def _shrinks(value: TensorInfo, result: TensorInfo | None) -> bool:
    return result is not None and any(after < before for before, after in zip(value.shape, result.shape, strict=True))
