"""Strides that ATen gives to what it computes elementwise of operands of several shapes.

PyTorch's own description broadcasts the operands first, and takes images of one batch for channels last whatever the
stride of that dimension. The kernels sort the dimensions by all of the strides, those of one element among them, and
`conv2d` and the like read these.
"""

from collections.abc import Sequence

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from dovetail.dialects.torch_facts.ops import row_of_func
from dovetail.dialects.torch_facts.row import Layout
from dovetail.dialects.torch_facts.strides import Strides

_CHANNELS_LAST = (1, 3, 2, 0)
"""Dimensions of images that lie so, from the innermost one."""


def broadcast_strides(func: torch._ops.OpOverload, args: tuple, result: torch.Tensor, how: Layout) -> Strides | None:
    """Those of the `result` of `func`, which is not empty; None where they are as described.

    So they are without a dimension of one element, and of what is neither tagged as pointwise nor, as `how` says, goes
    over all operands at once.
    """
    is_new = not any(each.alias_info is not None for each in func._schema.returns)
    iterates = how is Layout.ITERATED
    is_sorted = iterates or torch.Tag.pointwise in func.tags
    if not is_new or not is_sorted or not _has_one_element_somewhere(result):
        return None
    operands = [each for each in args if isinstance(each, torch.Tensor)]
    if how is Layout.SWAPPED:
        operands.reverse()
    are_open = any(is_open_size(number) for each in operands for number in (*each.size(), *each.stride()))
    if len(operands) == _operands(func, args) and _are_alike(operands):
        strides = _strides_of_all(operands)
        if are_open:  # then numbers decide nothing, and are written in the one way that gradients are compared by
            return strides if strides and all(isinstance(each, int) for each in strides) else None
        if strides:
            return strides
    elif iterates and are_open:
        return None
    return _dense(result.size(), _sorted(result.size(), [_steps(each, result) for each in operands]))


def _strides_of_all(operands: Sequence[torch.Tensor]) -> Strides | None:
    """Those of a result of `operands` of one shape that lie in one way, without gaps; None where they don't.

    Without memory, PyTorch sorts their dimensions, too, by strides that say nothing where there is one element.
    """
    first, sizes = operands[0].stride(), operands[0].size()
    rows = range(len(sizes) - 1, -1, -1)
    for order in (rows, _CHANNELS_LAST) if len(sizes) == 4 else (rows,):
        strides = _dense(sizes, order)
        if all(_lies_so(each, strides) for each in operands):
            return strides
    is_same = all(_are_same(first, each.stride()) for each in operands)
    return first if is_same and is_dense(operands[0]) else None


def is_open_size(number: int | torch.SymInt) -> bool:
    """Whether `number`, a size or a stride, differs from call to call."""
    return isinstance(number, torch.SymInt) and number.node.maybe_as_int() is None


def _are_same(strides: Sequence, others: Sequence) -> bool:
    return all(statically_known_true(one == other) for one, other in zip(strides, others, strict=True))


def _lies_so(tensor: torch.Tensor, strides: Sequence) -> bool:
    """Whether `tensor` has these strides, dimensions of one element left aside."""
    found = zip(tensor.size(), tensor.stride(), strides, strict=True)
    return all(_is_one(size) or statically_known_true(stride == wanted) for size, stride, wanted in found)


def is_dense(tensor: torch.Tensor) -> bool:
    """Whether `tensor` has neither gaps nor elements that overlap; of open sizes, whether it surely has none."""
    dims = [dim for dim in range(tensor.dim()) if not _is_one(tensor.size(dim))]
    step = 1
    while dims:
        inner = next((dim for dim in dims if statically_known_true(tensor.stride(dim) == step)), None)
        if inner is None:
            return False
        dims.remove(inner)
        step *= tensor.size(inner)
    return True


def _has_one_element_somewhere(result: torch.Tensor) -> bool:
    ones = [_is_one(size) for size in result.size()]
    return any(ones) and not all(ones)


def _is_one(size: int | torch.SymInt) -> bool:
    """What is open is not one: Dynamo has programs of their own for these."""
    return (size.node.maybe_as_int() if isinstance(size, torch.SymInt) else size) == 1


def _operands(func: torch._ops.OpOverload, args: tuple) -> int:
    """How many the kernel has: a number that stands for one is an operand without dimensions, but a weight is none."""
    pairs = zip((str(argument.type) for argument in func._schema.arguments), args, strict=False)
    tensors = sum(type_ == "Tensor" or (type_ == "Optional[Tensor]" and given is not None) for type_, given in pairs)
    is_operand = "scalar" in func._overloadname.lower() and func._overloadname != "Tensor_Scalar"
    return tensors + (is_operand and not row_of_func(func).weighs)


def _are_alike(tensors: Sequence[torch.Tensor]) -> bool:
    first, *others = (tensor.size() for tensor in tensors)
    if any(len(other) != len(first) for other in others):
        return False
    pairs = (pair for other in others for pair in zip(first, other, strict=True))
    return all(statically_known_true(one == other) for one, other in pairs)


def _steps(operand: torch.Tensor, result: torch.Tensor) -> list[int | torch.SymInt]:
    """An operand's strides, zero in each dimension that it is broadcast in."""
    missing = [0] * (result.dim() - operand.dim())
    pairs = zip(operand.size(), operand.stride(), result.size()[len(missing) :], strict=True)
    return [*missing, *(0 if _is_one(size) and not _is_one(wanted) else stride for size, stride, wanted in pairs)]


def _sorted(sizes: Sequence, steps: Sequence[Sequence]) -> list[int]:
    """The dimensions from the innermost one. Those that no operand tells apart stay where they are."""
    order = [*reversed(range(len(sizes)))]
    for last in range(1, len(order)):
        moved = last
        for other in reversed(range(last)):
            found = _compared(order[other], order[moved], sizes, steps)
            if found < 0:
                break
            if found > 0:
                order[other], order[moved] = order[moved], order[other]
                moved = other
    return order


def _compared(one: int, other: int, sizes: Sequence, steps: Sequence[Sequence]) -> int:
    """Negative if dimension `one` is inside of the `other`, positive if it is outside, zero if nothing says so."""
    for each in steps:
        if each[one] == 0 or each[other] == 0:
            continue
        if each[one] != each[other]:
            return -1 if each[one] < each[other] else 1
        if sizes[one] > sizes[other]:
            return 1
    return 0


def _dense(sizes: Sequence, order: Sequence[int]) -> Strides:
    strides: list[int] = [0] * len(sizes)
    step = 1
    for dim in order:
        strides[dim] = step
        step *= sizes[dim]
    return tuple(strides)
