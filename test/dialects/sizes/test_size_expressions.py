"""Sizes as affine expressions: what the bindings say of their classes."""

from torch_mlir import ir

from dovetail.dialects.sizes.size_expressions import bounds, divides_below_zero, evaluated, renumbered, used_symbols_of


def test_expressions_that_mlir_simplifies():
    """A product by 0, to Python still a product, is read as one: factors are read where it has none, a crash."""
    with ir.Context():
        first, second = map(ir.AffineExpr.get_symbol, (0, 1))
        simplified = {first * 0: 0, first + first * -1: 0, first * 1 + second * 0: 5, first * 2 + first: 15}
        for size, expected in simplified.items():
            assert evaluated(size, {0: 5, 1: 7}) == expected
            assert evaluated(renumbered(size, {0: 1, 1: 0}), {1: 5, 0: 7}) == expected
        assert used_symbols_of(first * 0) == set()


def test_bounds_hold_every_number():
    """Would catch `10 - n` taken for at least 10, so that the largest of no elements is no error."""
    with ir.Context():
        first, second = map(ir.AffineExpr.get_symbol, (0, 1))
        floor = ir.AffineExpr.get_floor_div
        sizes = (
            10 - first,
            first * second,
            floor(first * -1, 3) * -1,
            floor(first - 4, second),
            first % 3,
            first * -2 + 1,
        )
        for size in sizes:
            least, most = bounds(size, {0: (1, 10), 1: (2, 5)})
            found = [evaluated(size, {0: one, 1: other}) for one in range(1, 11) for other in range(2, 6)]
            assert least <= min(found) <= max(found) <= most
        assert bounds(10 - first, {0: (1, 10)}) == (0, 9)
        assert divides_below_zero(sizes[2], {0: (1, 10)})
        assert not divides_below_zero(floor(first + 2, 3), {0: (1, 10)})
