"""What is computed of constants alone: here, or by compilers, some of whose folds are wrong."""

import operator
from collections.abc import Callable

import pytest
import torch
from differential import assert_same

Number = float
Making = Callable[[torch.Tensor, Number, torch.dtype], torch.Tensor]

MADE: dict[str, Making] = {
    "scalar": lambda x, number, dtype: torch.scalar_tensor(number, dtype=dtype, device=x.device),
    "alike": lambda x, number, dtype: torch.full_like(x, number, dtype=dtype),
    "chosen": lambda x, number, dtype: torch.where(x > 0, *[torch.full((), number, dtype=dtype, device=x.device)] * 2),
}
COMPARISONS = [getattr(operator, name) for name in ("gt", "ge", "lt", "le", "eq", "ne")]
ARITHMETIC = [operator.add, operator.sub, operator.mul, lambda value, number: torch.sub(value, value, alpha=number)]
NUMBERS = {torch.float32: 2.0, torch.bfloat16: -1.5, torch.int64: -3, torch.uint8: 200, torch.bool: True}


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_constants_are_eagers(dtype: torch.dtype):
    """Would catch torch-mlir's folds: `full(2.0) > 0` is false, `full(2.0) + -3` is 2 ** 64 of bfloat16."""

    others = (0, 1) if dtype == torch.bool else (0, 2, -3)
    pairs = [(compare, number) for compare in COMPARISONS for number in (*others, True)]
    pairs += [(compute, number) for compute in ARITHMETIC for number in others if dtype != torch.bool]

    def function(x):
        values = [make(x, NUMBERS[dtype], dtype) for make in MADE.values()]
        # Each pair of two of them, in turn: a fold sees the same constant, however that was made.
        known = [
            compute(value, number)
            for turn, value in enumerate(values)
            for index, (compute, number) in enumerate(pairs)
            if index % len(values) != turn
        ]
        # A choice by an argument, so that a region computes them; of what may be too small for it.
        chosen, zeros = x > 1e9, {(each.dtype, each.shape): torch.zeros_like(each) for each in known}
        return [torch.where(chosen, zeros[each.dtype, each.shape], each) for each in known]

    assert_same(function, torch.tensor([1.5, -2.0, 0.25]), calls=1, train=False)
