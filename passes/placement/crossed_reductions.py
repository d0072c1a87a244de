"""Reductions whose result meets itself along another dimension: `v[:, None] * v`.

IREE computes a reduction in the loop that uses it, tile by tile. Where one op reads the result along two dimensions, a
tile needs numbers of other tiles, which are not there yet.
"""

from torch_mlir import ir

from dovetail.dialects.torch_facts import strides
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.types import tensor_info

_FOLLOWED = (Kind.VIEW, Kind.POINTWISE)
_REORDER = (strides.permute, strides.transpose, strides.reverse)

Form = tuple[object, ...]
"""Along which dimensions of a value a reduction's result lies, counted from the last; or the view that hid it."""


def is_crossed(op: ir.Operation) -> bool:
    """Whether a pointwise op takes what comes from the result of `op`, a reduction, in two forms."""
    if kind(op) is not Kind.REDUCTION or (info := tensor_info(op.results[0].type)) is None or info.numel < 2:
        return False
    forms: dict[ir.Value, Form] = {op.results[0]: _form(op.results[0])}
    pending = [op.results[0]]
    while pending:
        value = pending.pop()
        for use in value.uses:
            user = use.owner.operation
            if kind(user) not in _FOLLOWED or len(user.results) != 1:
                continue
            met = {forms[operand] for operand in user.operands if operand in forms}
            if len(met) > 1:
                return True
            result = user.results[0]
            if result not in forms:
                forms[result] = forms[value] if kind(user) is Kind.POINTWISE else _seen(user, value, forms[value])
                pending.append(result)
    return False


def _form(value: ir.Value) -> Form:
    sizes = _sizes(value)
    return tuple((len(sizes) - dim, size) for dim, size in enumerate(sizes) if size > 1)


def _seen(view: ir.Operation, value: ir.Value, form: Form) -> Form:
    """The form of what `view` shows of `value`: a dimension moves with the sizes around it."""
    result = view.results[0]
    keeps_order = len(form) < 2 or row(view).strides not in _REORDER
    keeps_sizes = [size for size in _sizes(value) if size > 1] == [size for size in _sizes(result) if size > 1]
    return _form(result) if form == _form(value) and keeps_sizes and keeps_order else (view,)


def _sizes(value: ir.Value) -> Sizes:
    info = tensor_info(value.type)
    return () if info is None else info.shape
