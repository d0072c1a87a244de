"""What the compiler knows of torch-dialect ops: their ATen names and what kind of work each is.

A row here claims all that `Kind` says of its kind, on every element type and every size; CONTRIBUTING.md ("An ATen op")
says how to add one. Kinds follow PyTorch's own tags where those exist (`test/dialects/torch_facts/test_ops.py` holds
the table against them); the table is ours so that passes run without importing torch.
"""

from enum import Enum
from functools import cache

from torch_mlir import ir


class Kind(Enum):
    """What kind of work an op is, and with it what passes may do to it.

    Every kind but UNKNOWN claims of an op:

    - **It is a function.** Its results depend on its operands alone, and it does nothing else: it draws no random
      numbers, checks nothing and writes nothing. `merge-equal-values` therefore computes equal ones once and drops
      unused ones, and the backward may compute it again. Attention has rows though its dropout draws: the importer
      makes library calls of such ops, which no pass merges or repeats.
    - **Its memory.** A VIEW is in its first operand's memory, every other result in fresh memory. Memory is planned and
      freed by that; `result_memory.py` has the exceptions.
    - **Its price.** Computing CONSTANT, VIEW, POINTWISE, MOVEMENT and CREATION again in the backward is free. A
      REDUCTION is as well if its result is large, else it costs what it reads and returns; LIBRARY costs its flops too
      (`passes/partition/recompute_price.py`).
    - **Its place.** A VIEW is no work, LIBRARY runs through ATen, the others in a region, where IREE knows them and
      `passes/placement/iree_support.py` does not refuse them.

    POINTWISE claims more: the result may take an operand's memory in the loop that reads it (`prove-in-place`), and
    equal calls on small tensors may become one call on their concatenation (`batch-library-calls`, which lists what
    depends on places all the same). REDUCTION deepens a region (`limit-regions`).

    Of UNKNOWN nothing is claimed: it runs through ATen where it stands, once, and may keep what it was given.
    """

    CONSTANT = "constant"  # a Python value in the IR
    VIEW = "view"  # no arithmetic, and in PyTorch no copy
    POINTWISE = "pointwise"  # one output element from one element of each input
    REDUCTION = "reduction"
    MOVEMENT = "movement"  # copies elements to other places
    CREATION = "creation"  # a tensor from nothing
    LIBRARY = "library"  # vendor kernels are better than what we would generate
    UNKNOWN = "unknown"  # no row, or no op of ATen's


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


VIEWS = _names(
    "alias as_strided detach diagonal expand expand_as narrow permute real reshape select slice split split_with_sizes "
    "squeeze t transpose unbind unsqueeze unfold view view_as _unsafe_view _reshape_alias lift_fresh chunk"
)
POINTWISE = _names(
    "abs acos acosh add addcdiv addcmul asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or bitwise_xor "
    "bitwise_left_shift bitwise_right_shift ceil celu clamp clamp_max clamp_min copysign cos cosh div elu eq erf erfc "
    "erfinv exp exp2 expm1 floor floor_divide fmod frac ge gelu gelu_backward gt hardsigmoid hardswish hardtanh hypot "
    "isinf isnan isfinite le leaky_relu leaky_relu_backward lerp lgamma log log10 log1p log2 logical_and logical_not "
    "logical_or logical_xor logit lt masked_fill maximum minimum mish mul ne neg pow reciprocal relu remainder round "
    "rsqrt rsub sgn sigmoid sigmoid_backward sign signbit silu silu_backward sin sinh softplus softplus_backward sqrt "
    "square sub tan tanh tanh_backward threshold threshold_backward trunc where xlogy _to_copy to convert_element_type "
    "clone contiguous copy lift_fresh_copy tril triu nan_to_num elu_backward hardswish_backward hardsigmoid_backward "
    "hardtanh_backward log_sigmoid_forward log_sigmoid_backward deg2rad rad2deg heaviside digamma"
)
REDUCTIONS = _names(
    "all amax amin any argmax argmin max mean min norm prod sum std var var_mean logsumexp _softmax _log_softmax "
    "_softmax_backward_data _log_softmax_backward_data native_layer_norm native_layer_norm_backward cumsum "
    "count_nonzero linalg_vector_norm native_group_norm"
)
MOVEMENT = _names("cat stack constant_pad_nd flip repeat roll select_scatter slice_scatter slice_backward "
                  "select_backward rot90 tile unfold_backward diagonal_scatter pixel_shuffle")  # fmt: skip
CREATION = _names(
    "arange empty empty_like empty_strided eye fill full full_like linspace new_empty new_empty_strided new_full "
    "new_ones new_zeros ones ones_like scalar_tensor zeros zeros_like iota"
)
LIBRARY = {
    **dict.fromkeys(_names("addbmm addmm addmv baddbmm bmm dot linear matmul mm mv vdot _trilinear"), "contraction"),
    **dict.fromkeys(
        _names("convolution convolution_backward _convolution mkldnn_convolution"), "convolution"
    ),
    **dict.fromkeys(
        _names(
            "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_flash_attention_for_cpu_backward "
            "scaled_dot_product_attention _scaled_dot_product_attention_math"
        ),
        "attention",
    ),
    **dict.fromkeys(
        _names(
            "embedding embedding_dense_backward gather index index_add index_copy index_fill index_put _unsafe_index "
            "_unsafe_index_put index_select masked_scatter masked_select scatter scatter_add scatter_reduce take put "
            "nonzero unique_dim _unsafe_masked_index _unsafe_masked_index_put_accumulate"
        ),
        "gather or scatter",
    ),
    **dict.fromkeys(
        _names(
            "max_pool2d_with_indices max_pool2d_with_indices_backward avg_pool2d avg_pool2d_backward "
            "_adaptive_avg_pool2d _adaptive_avg_pool2d_backward adaptive_max_pool2d max_pool2d_with_indices_backward"
        ),
        "pooling",
    ),
    **dict.fromkeys(_names("sort topk kthvalue median searchsorted bucketize"), "sorting"),
    **dict.fromkeys(
        _names("linalg_inv_ex linalg_qr linalg_svd _linalg_svd linalg_cholesky_ex linalg_eigh _linalg_eigh "
               "linalg_lu_factor_ex _linalg_det _linalg_solve_ex triangular_solve"),
        "linear algebra",
    ),
}  # fmt: skip

# Unlike their name's kind: these overloads reduce over a dimension and return indices, or reinterpret memory.
_OVERLOADS = {"aten.view.dtype": Kind.UNKNOWN, "aten.max.other": Kind.POINTWISE, "aten.min.other": Kind.POINTWISE}


NAMESPACES = ("aten", "prims")
"""Of the ops that have rows here."""

# "dovetail": branches and loops, see `control_flow`.
_NOT_ATEN = ("constant", "prim", "vtensor", "overwrite", "copy", "dovetail")


def aten_name(op: ir.Operation) -> str | None:
    """The ATen overload that a torch-dialect op calls, e.g. "aten.add.Tensor"; None for any other op."""
    name = op.name
    return _overload(ir.StringAttr(op.attributes["name"]).value if name == "torch.operator" else name)


@cache
def _overload(name: str) -> str | None:
    parts = name.split(".")
    if parts[0] != "torch" or len(parts) < 3 or parts[1] in _NOT_ATEN:
        return None
    return ".".join(parts[1:] if len(parts) > 3 else [*parts[1:], "default"])


# Conversions of Python numbers, which the importer inserts around constants.
CONVERSIONS = {"torch.aten.Int.bool": "int", "torch.aten.Float.Scalar": "float", "torch.aten.Int.Scalar": "int"}


def is_constant(op: ir.Operation) -> bool:
    """Whether `op` makes a Python value (a number, a list, None): free, and cloned wherever it is used."""
    name = op.name
    if name == "torch.prim.ListConstruct":
        # A type's text costs more than all else here, and a list's elements are mostly of one type.
        return not any("tensor" in str(type_) for type_ in {value.type for value in op.operands})
    return name.startswith("torch.constant.") or name in CONVERSIONS


def kind(op: ir.Operation) -> Kind:
    """What kind of work a torch-dialect op is."""
    if is_constant(op):
        return Kind.CONSTANT
    if op.name in ("torch.prim.ListConstruct", "torch.prim.ListUnpack"):
        return Kind.VIEW
    if op.name in ("torch.vtensor.literal", "torch.prim.NumToTensor.Scalar"):
        return Kind.CREATION
    name = aten_name(op)
    return Kind.UNKNOWN if name is None else kind_of_name(name)


@cache
def kind_of_name(name: str) -> Kind:
    """Like `kind`, for an overload's name. A custom op is UNKNOWN, whatever it is called."""
    if name in _OVERLOADS:
        return _OVERLOADS[name]
    namespace, base = name.split(".")[:2]
    if namespace not in NAMESPACES:
        return Kind.UNKNOWN
    for names, result in (
        (VIEWS, Kind.VIEW),
        (POINTWISE, Kind.POINTWISE),
        (REDUCTIONS, Kind.REDUCTION),
        (MOVEMENT, Kind.MOVEMENT),
        (CREATION, Kind.CREATION),
        (LIBRARY, Kind.LIBRARY),
    ):
        if base in names:
            return result
    return Kind.UNKNOWN
