"""Sizes as affine expressions: what is rounded in Python's floating point."""

import math
from types import SimpleNamespace

import pytest
import sympy
from torch.utils._sympy import functions as by_torch
from torch.utils._sympy.value_ranges import ValueRanges
from torch_mlir import ir

from dovetail.dialects.sizes.size_expressions import evaluated
from dovetail.errors import UnsupportedError
from dovetail.frontend.to_ir.affine import affine

SIZE = sympy.Symbol("s", integer=True, positive=True)
ROUNDED = {
    by_torch.CeilToInt: math.ceil,
    by_torch.FloorToInt: math.floor,
    by_torch.TruncToInt: int,
    by_torch.RoundToInt: round,
}
AT_LEAST_0 = SimpleNamespace(bound_sympy=lambda _: ValueRanges(0, sympy.oo))


@pytest.mark.parametrize("function", ROUNDED)
def test_quotients_are_rounded_as_python_does(function):
    """A size of half of the way to the next: Python's `round` goes to what is even."""
    python = ROUNDED[function]
    with ir.Context():
        for divisor in range(1, 9):
            found = affine(function(by_torch.IntTrueDiv(SIZE, sympy.Integer(divisor))), {SIZE: 0}, AT_LEAST_0)
            assert [evaluated(found, {0: n}) for n in range(60)] == [python(n / divisor) for n in range(60)]
        for factor in (0.5, 1.5, 2.25, 0.125):
            found = affine(function(sympy.Float(factor) * by_torch.ToFloat(SIZE)), {SIZE: 0}, AT_LEAST_0)
            assert [evaluated(found, {0: n}) for n in range(60)] == [python(n * factor) for n in range(60)]


def test_products_that_python_rounds_are_refused():
    """0.7 times 10 is 7 in floating point and less in fractions: a size would be one too small."""
    with ir.Context(), pytest.raises(UnsupportedError, match="may differ from what its text says"):
        affine(by_torch.FloorToInt(sympy.Float(0.7) * by_torch.ToFloat(SIZE)), {SIZE: 0}, AT_LEAST_0)
