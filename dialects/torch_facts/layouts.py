"""Which ops give the same values however their operands lie in memory, as far as that is known.

As `dialects.torch_facts.ops`, a table of PyTorch's facts that needs no torch;
test/dialects/torch_facts/test_layouts.py runs the ops on other layouts to hold it against them.
"""

from functools import cache

from dovetail.dialects.torch_facts.ops import Kind, kind_of_name

_ATTENTION = "aten._scaled_dot_product_flash_attention_for_cpu"
IN_ROWS = {
    f"{_ATTENTION}.default": frozenset("query key value attn_mask".split()),
    f"{_ATTENTION}_backward.default": frozenset("grad_out query key value out attn_mask".split()),
}
"""Any strides will do for these if the last dimension of the arguments named is contiguous: the kernel relies on it."""

# Of a known kind, though it returns the factors of the transposed matrix where the matrix lies row by row.
_SENSITIVE = frozenset(("aten._linalg_det.default",))

# Of unknown kind: complex numbers seen otherwise, and what copies element by element.
_INDIFFERENT = frozenset(
    ("aten._conj.default", "aten._neg_view.default", "aten.view_as_real.default", "aten.copy_.default")
)


@cache
def is_indifferent(name: str) -> bool:
    """Whether the ATen overload `name` is known to give the same values for any strides of its operands.

    Custom ops, collectives and what draws random numbers (in the order of memory) are not.
    """
    if name in _SENSITIVE:
        return False
    return name in _INDIFFERENT or kind_of_name(name) is not Kind.UNKNOWN
