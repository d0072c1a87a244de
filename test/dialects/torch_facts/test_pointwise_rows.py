"""What rows claim of pointwise ops, beside what ATen's kernels do with numbers."""

from collections.abc import Callable

import pytest
import torch

from dovetail.dialects.torch_facts.ops import Kind, row_of_name
from dovetail.dialects.torch_facts.row import Rounding, Row
from dovetail.dialects.torch_facts.rows import OPS

OPERANDS = (
    torch.tensor([0.3, -1.7, 2.5, -0.0, 5.0, 0.9, -3.2, 1.0]),
    torch.tensor([1.2, 0.4, -2.0, 3.0, 0.7, -0.1, 2.2, 1.0]),
    torch.tensor([0.5, 1.5, 0.1, -2.0, 1.0, 0.2, -0.7, 3.0]),
)
SUBNORMAL = 1e-40
# Its third operand is the exponential of its second: given another, it jumps where it does not for its own.
BOUND = {"log_sigmoid_backward"}


def tensor_overloads(name: str) -> list[tuple[Callable, int]]:
    """The functional overloads that can be called on float32 tensors alone, with how many they take."""
    packet, found = getattr(torch.ops.aten, name.partition(".")[0], None), []
    for overload_name in packet.overloads() if packet is not None else ():
        overload = getattr(packet, overload_name)
        if row_of_name(f"aten.{overload._opname}.{overload_name}").name != name or overload._schema.is_mutable:
            continue
        required = [each for each in overload._schema.arguments if not each.has_default_value() and not each.kwarg_only]
        if not 0 < len(required) <= len(OPERANDS) or any(str(each.type) != "Tensor" for each in required):
            continue
        if torch._C._dispatch_has_kernel(overload.name()) and _takes_floats(overload, len(required)):
            found.append((overload, len(required)))
    return found


def _takes_floats(overload: torch._ops.OpOverload, count: int) -> bool:
    try:
        overload(*OPERANDS[:count])
    except RuntimeError:
        return False
    return True


def results(given: torch.Tensor | tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    return [given] if isinstance(given, torch.Tensor) else [each for each in given if each.numel()]


POINTWISE = [row for row in OPS if row.kind is Kind.POINTWISE and row.name not in BOUND and tensor_overloads(row.name)]


def named(row: Row) -> str:
    return row.name


def test_most_ops_are_called():
    """Would catch a search for overloads that finds none, of which everything is true."""
    assert len(POINTWISE) > 80


@pytest.mark.parametrize("row", [row for row in POINTWISE if not row.is_by_position], ids=named)
def test_place_makes_no_difference(row):
    """Would catch an op that counts where an element stands, put end to end with others of its kind."""
    for overload, count in tensor_overloads(row.name):
        forth, back = overload(*OPERANDS[:count]), overload(*[each.flip(0) for each in OPERANDS[:count]])
        for one, other in zip(results(forth), results(back), strict=True):
            torch.testing.assert_close(one, other.flip(0), rtol=1e-6, atol=0, equal_nan=True)


@pytest.mark.parametrize("row", [row for row in POINTWISE if row.rounding is Rounding.NEVER], ids=named)
def test_what_never_rounds_gives_numbers_back(row):
    """Would catch arithmetic that is computed twice, as if its last bit were the same each time."""
    for overload, count in tensor_overloads(row.name):
        given = torch.cat(OPERANDS[:count]).abs()
        for result in results(overload(*OPERANDS[:count])):
            made = result[result != result.round()] if result.is_floating_point() else result[:0]
            assert torch.isin(made.abs(), given).all(), f"{overload} computes {made}"


@pytest.mark.parametrize("row", [row for row in POINTWISE if not row.tells_subnormals], ids=named)
def test_subnormal_numbers_make_no_difference(row):
    """Would catch a jump at zero in a region that takes subnormal numbers for zero."""
    for overload, count in tensor_overloads(row.name):
        for index in range(count):
            for number in (SUBNORMAL, -SUBNORMAL):
                given = [[operand.clone() for operand in OPERANDS[:count]] for _ in range(2)]
                given[0][index].fill_(0)
                given[1][index].fill_(number)
                zero, other = (results(overload(*each)) for each in given)
                for one, another in zip(zero, other, strict=True):
                    if one.is_floating_point():
                        same = torch.isclose(one, another, rtol=0, atol=1e-30, equal_nan=True)
                        assert same.all(), f"{overload} differs at {number}: its row needs `tells_subnormals`"
