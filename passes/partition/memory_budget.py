"""An activation memory budget: the least work to run again in the backward, for at most so many bytes saved.

In general that is hard (Jain et al. 2020, "Checkmate: Breaking the Memory Wall with Optimal Tensor Rematerialization",
solve it as an integer program). A Lagrange multiplier makes it easy (Everett 1963, "Generalized Lagrange Multiplier
Method for Solving Problems of Optimum Allocation of Resources"): the least sum of saved bytes and `rate` × repeated
work is one minimum cut, and whatever saves as few bytes repeats as much work. As the rate falls, the cuts are nested
(Gallo, Grigoriadis and Tarjan 1989, "A Fast Parametric Maximum Flow Algorithm and Applications"), so that a
lower rate never saves more bytes. Hence bisection finds the highest rate that keeps the limit, and a smaller budget
never saves more than a larger one. What lies between the cuts of two neighbouring rates is out of reach: part of the
budget may stay unused. `_SPREAD` keeps that small where layers are equal.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence

from dovetail.passes.partition.min_cut import Cost

# Rates are powers of two, so many steps to each; at the ends work is for nothing, and no byte is worth any.
_STEPS = 1024
_RATES = range(-48 * _STEPS, 48 * _STEPS)
# By how much the last op's work counts more than the first one's. Of equal layers the early ones are recomputed first:
# their turn comes late in the backward, when most of what is saved is gone.
_SPREAD = 0.5


def within_budget(
    budget: float, work: Sequence[Cost], cut: Callable[[Sequence[Cost]], list[int]], size: Callable[[list[int]], int]
) -> list[int]:
    """Returns the values to save: those of `cut(prices)`, prices in proportion to `work`, that keep the budget.

    `work` has the work of running an op again, by node; None stands for never. `size` is what saved values cost. The
    budget goes from 0, what is saved if all work is for nothing, to 1, what is saved if none is repeated.
    """

    def saved(rate: int) -> list[int]:
        return cut([None if each is None else _price(each, rate, index / len(work)) for index, each in enumerate(work)])

    least = cut([None if each is None else 0 for each in work])
    most = saved(_RATES[-1])
    limit = size(least) + budget * (size(most) - size(least))
    kept = bisect_right(_RATES, limit, key=lambda rate: size(saved(rate)))
    return saved(_RATES[kept - 1]) if kept else least


def _price(work: int, rate: int, index: float) -> int:
    return int(work * (1 + _SPREAD * index) * 2.0 ** (rate / _STEPS))
