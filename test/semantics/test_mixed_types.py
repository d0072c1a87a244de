"""Operands of two element types: what one becomes before an op is the op's own affair, and differs from op to op."""

from collections.abc import Callable
from itertools import combinations, permutations

import torch

# Numbers for which it shows that bytes are taken for signed, truth values for -1, or the narrow type for the result's.
VALUES = {
    torch.bool: [True, True, False, True],
    torch.uint8: [200, 0, 255, 7],
    torch.int8: [-1, 0, -128, 7],
    torch.int16: [-300, 1, 0, 7],
    torch.float32: [-0.5, 1.0, 199.0, 8.0],
}
OPS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "cat": lambda x, y: torch.cat([x, y]),
    "stack": lambda x, y: torch.stack([x, y]),
    "where": lambda x, y: torch.where(x > 0, x, y),
    "add": torch.add,
    "mul": torch.mul,
    "maximum": torch.maximum,
    "fmin": torch.fmin,
    "clamp": lambda x, y: torch.clamp(x, min=y),
    "slice_scatter": lambda x, y: x.slice_scatter(y[1:3], 0, 0, 2),
    "select_scatter": lambda x, y: x.select_scatter(y[2], 0, 1),
    "copy": lambda x, y: x.clone().copy_(y),
    "bitwise_xor": torch.bitwise_xor,
    "bitwise_and": torch.bitwise_and,
    **{name: getattr(torch, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
}
# Of comparisons, which are lowered alike, three take each two types in this order, and three in the other.
IN_ORDER, IN_THE_OTHER = ("lt", "ge", "ne"), ("gt", "le", "eq")


def _orders(name: str) -> list[tuple[torch.dtype, torch.dtype]]:
    if name in IN_ORDER:
        return list(combinations(VALUES, 2))
    return list(combinations(reversed(VALUES), 2) if name in IN_THE_OTHER else permutations(VALUES, 2))


def _is_taken(op: Callable, x: torch.Tensor, y: torch.Tensor) -> bool:
    try:
        op(x, y)
    except (RuntimeError, TypeError):
        return False
    return True


def test_operands_of_two_types() -> None:
    """Bytes joined with floats were negative, True was less than 0, a slice changed the type of what it is put into."""
    tensors = {dtype: torch.tensor(numbers, dtype=dtype).repeat(4) for dtype, numbers in VALUES.items()}
    tried = ((name, *types) for name in OPS for types in _orders(name))
    calls = [
        (name, first, other) for name, first, other in tried if _is_taken(OPS[name], tensors[first], tensors[other])
    ]

    def compute(tensors: dict[torch.dtype, torch.Tensor]) -> list[torch.Tensor]:
        return [OPS[name](tensors[first], tensors[other]) for name, first, other in calls]

    results = torch.compile(compute, backend="dovetail")(tensors)
    for (name, first, other), actual, expected in zip(calls, results, compute(tensors), strict=True):
        torch.testing.assert_close(actual, expected, rtol=0, atol=0, msg=f"{name} of {first} and {other}")
