"""Strides that ATen gives to what it computes elementwise of operands of several shapes.

PyTorch's own description broadcasts the operands first, and takes images of one batch for channels last whatever the
stride of that dimension. The kernels sort the dimensions by all of the strides, those of one element among them, and
`conv2d` and the like read these.
"""

from collections.abc import Sequence

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from dovetail.dialects.torch_facts.strides import Strides


def broadcast_strides(func: torch._ops.OpOverload, args: tuple, result: torch.Tensor) -> Strides | None:
    """Those of the `result` of `func`, which is not empty; None where they are as described.

    So they are without a dimension of one element, and of operands of one shape.
    """
    is_new = not any(each.alias_info is not None for each in func._schema.returns)
    is_sorted = torch.Tag.pointwise in func.tags and func._opname != "masked_fill"  # which copies, and fills that
    if not is_new or not is_sorted or not _has_one_element_somewhere(result):
        return None
    operands = [each for each in args if isinstance(each, torch.Tensor)]
    if len(operands) == _operands(func) and _are_alike(operands):
        return None
    return _dense(result.size(), _sorted(result.size(), [_steps(each, result) for each in operands]))


def _has_one_element_somewhere(result: torch.Tensor) -> bool:
    ones = [_is_one(size) for size in result.size()]
    return any(ones) and not all(ones)


def _is_one(size: int | torch.SymInt) -> bool:
    """What is open is not one: Dynamo has programs of their own for these."""
    return (size.node.maybe_as_int() if isinstance(size, torch.SymInt) else size) == 1


def _operands(func: torch._ops.OpOverload) -> int:
    """How many the kernel has: a number that stands for one is an operand without dimensions, but a weight is none."""
    tensors = sum(str(argument.type) == "Tensor" for argument in func._schema.arguments)
    return tensors + (func._overloadname == "Scalar" and func._opname != "lerp")


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
