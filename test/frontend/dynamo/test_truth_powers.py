"""Powers of truth values to Python's True and False."""

import pytest
import torch
from differential import assert_same


def powers(x: torch.Tensor) -> list[torch.Tensor]:
    return [
        x**True,
        (x**True) + 1,
        (x.t() ** False) & x.t(),
        x.pow(True) * x,
        torch.pow(x, True) * 0.5,
        ~((x**True) ** False),
        x**1,
        x.float() ** True,
    ]


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize("dynamic", [False, True])
def test_powers_of_truth_values(dynamic):
    """Catches whole numbers in their place, as PyTorch traces them: a region that takes these raised at the call."""
    assert_same(powers, torch.tensor([[True, False, True], [False, False, True]]), train=False, dynamic=dynamic)
