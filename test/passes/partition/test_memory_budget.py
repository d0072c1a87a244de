"""The solver for a memory budget, on problems whose best answer is known."""

import pytest

from dovetail.passes.partition.memory_budget import within_budget

# Values of so many bytes, each saved or made again by so much work.
BYTES = [100, 100, 100, 50]
WORK = [10, 1000, 10, None]


def cut(prices):
    """What a minimum cut saves where no value comes from another: whatever is worth less than its price."""
    return [value for value, price in enumerate(prices) if price is None or BYTES[value] <= price]


def size(values):
    return sum(BYTES[value] for value in values)


@pytest.mark.parametrize(
    ("budget", "kept"),
    [
        (0, [3]),
        (0.2, [3]),
        (0.4, [1, 3]),
        (0.67, [1, 2, 3]),
        (0.999, [1, 2, 3]),
    ],
)
def test_least_work_is_repeated(budget, kept):
    """Would catch a budget that is exceeded, and work that is repeated though lighter, or earlier, would do."""
    assert within_budget(budget, WORK, cut, size) == kept


def test_smaller_budget_never_saves_more():
    """Would catch a solver, such as one of knapsacks, that jumps to a larger choice when the limit falls."""
    sizes = [size(within_budget(step / 20, WORK, cut, size)) for step in range(20)]
    assert sizes == sorted(sizes)


def test_cuts_asked_for_do_not_grow_with_the_graph():
    """Would catch a rate tried for each op: each is a maximum flow."""
    asked = []
    within_budget(0.5, WORK * 100, lambda prices: asked.append(prices) or cut(prices[:4]), size)
    assert len(asked) < 25
