"""Sizes as affine expressions: what the bindings say of their classes."""

from torch_mlir import ir

from dovetail.dialects.size_expressions import evaluated, renumbered, used_symbols_of


def test_expressions_that_mlir_simplifies():
    """A product by 0, to Python still a product, is read as one: factors are read where it has none, a crash."""
    with ir.Context():
        first, second = map(ir.AffineExpr.get_symbol, (0, 1))
        simplified = {first * 0: 0, first + first * -1: 0, first * 1 + second * 0: 5, first * 2 + first: 15}
        for size, expected in simplified.items():
            assert evaluated(size, {0: 5, 1: 7}) == expected
            assert evaluated(renumbered(size, {0: 1, 1: 0}), {1: 5, 0: 7}) == expected
        assert used_symbols_of(first * 0) == set()
