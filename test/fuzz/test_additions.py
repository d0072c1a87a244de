"""The additions of a sum are those that ATen makes, and their roundings count."""

import torch

from dovetail.tools.fuzz.additions import IN_A_ROW, additions, terms
from dovetail.tools.fuzz.stochastic import RandomRounding


def test_levels_of_a_sum() -> None:
    """Catches an addition left out or made up, by which the error of a sum would be judged."""
    value = torch.arange(1.0, 41.0, dtype=torch.float64).view(2, 20)
    (_, lowest), (added, total) = additions(terms((value, [1])), IN_A_ROW)
    assert [each for each in lowest[0].tolist() if each] == [*value[0, :16].cumsum(0)[1:], 35, 54, 74]
    assert added[:, 0].tolist() == value[:, 16:].sum(1).tolist()
    assert total[:, 0].tolist() == value.sum(1).tolist()
    assert not added[:, 1:].any()
    assert not total[:, 1:].any()


def test_addends_of_a_sum() -> None:
    """Catches a sum judged by the numbers of another one."""
    value = torch.arange(24.0).view(2, 3, 4)
    for dims in ([1], [0, 2], [0, 1, 2], [-1]):
        assert torch.equal(terms((value, dims)).sum(1), value.sum(dims).flatten())
    assert torch.equal(terms((value,)).sum(1), value.sum()[None])


def test_additions_of_equal_numbers_are_rounded_alike() -> None:
    """Catches errors that cancel, where a sum of equal numbers is off by the same at each step."""
    value = torch.rand(512).expand(31, 512)
    right = value.double().sum(0)
    found = torch.zeros(512, dtype=torch.float64)
    for seed in range(32):
        with RandomRounding(seed):
            found = found.fmax((value.sum(0).double() - right).abs() / right)
    assert 3 < (found / torch.finfo(torch.float32).eps).median() < 8
