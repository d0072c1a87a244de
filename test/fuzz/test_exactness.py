"""What is exact counts as exact, and nothing does by luck: among many numbers some luck is certain."""

import pytest
import torch

from dovetail.tools.fuzz import exactness
from dovetail.tools.fuzz.exactness import is_exact

aten = torch.ops.aten
ROWS = torch.randn((1 << 16, 7), generator=torch.Generator().manual_seed(0)).double()
EIGHTHS = ROWS.mul(8).round().div(8)


def exact(func, *args, dtype=torch.float64):
    """Which results of the op are exact."""
    right = func(*args)
    return is_exact(func, args, {}, 0, right, right.to(dtype))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(
    ("func", "others"),
    [
        (aten.sum.dim_IntList, [[1]]),
        (aten.cumsum.default, [1]),
        (aten.mv.default, [torch.ones(7).double()]),
        (aten.mm.default, [torch.tensor([[2.0, -0.5, 1, 3, 1, -1, 4]]).double().mT]),
    ],
)
def test_sums(func, others, dtype):
    """Catches small sums of large numbers taken for exact, since few bits are left, and exact ones that are not."""
    assert exact(func, EIGHTHS, *others, dtype=dtype).all()
    found = exact(func, ROWS.tanh().to(dtype).double(), *others, dtype=dtype)
    assert not found[..., -1].any()


def test_means():
    """Catches a mean of equal numbers that is not exact, whose parts have no exact means, and others that are."""
    assert exact(aten.mean.dim, torch.full((5, 3), 0.25).double(), [1]).all()
    assert exact(aten.mean.dim, torch.tensor([[1.0, 2.0, 6.0]]).double(), [1], dtype=torch.float32).all()
    assert not exact(aten.mean.dim, ROWS, [1], dtype=torch.float32).any()
    assert not exact(aten.mean.dim, torch.tensor([[1.0, 2.0, 7.0]]).double(), [1]).any()


def test_variances():
    """Catches a variance that is exact by luck: it has few bits, but the mean that it subtracts is no float32."""
    rounded = torch.tensor([[-6.0, -8, -5, -2, -5, 4, -6, 3, -5]]).double()
    for func in (aten.var.correction, aten.var_mean.correction):
        right = func(rounded, [1])
        first = right if func is aten.var.correction else right[0]
        assert first == 17.5
        assert not is_exact(func, (rounded, [1]), {}, 0, first, first.float()).any()
    assert exact(aten.var.correction, torch.tensor([[1.0, 2, 3]]).double(), [1], dtype=torch.float32).all()


def test_products_and_sums_of_two():
    """Catches a product in double precision that is exact since it ends in zeros, or is as large as an operand."""
    x = ROWS.flatten()
    assert not exact(aten.mul.Tensor, x, 0.3).any()
    assert exact(aten.mul.Tensor, x, 0.5).all()
    assert exact(aten.mul.Tensor, x, x).all()
    assert exact(aten.mul.Tensor, x > 0, x).all()
    assert exact(aten.sub.Tensor, x, 2.0).sum() > len(x) / 2
    assert not exact(aten.sub.Tensor, x.tanh(), 1e9).any()


def test_other_ops():
    """Catches results of a function in double precision that end in zeros, of so many, and those that select."""
    x = ROWS.flatten()
    assert not exact(aten.tanh.default, x).any()
    assert exact(aten.relu.default, x).all()
    assert exact(aten.sqrt.default, EIGHTHS.flatten().square()).all()


def test_selected_numbers():
    """Catches numbers of an operand not found among many results, NaN found, and other operands' numbers missed."""
    x = ROWS.flatten()
    picked = torch.stack([-x[5], x[7], x[5] * 1.1, torch.tensor(torch.nan, dtype=torch.float64)])
    assert exactness._is_size_of_one(picked, (x, 2)).tolist() == [True, True, False, False]
    assert exactness._is_size_of_one(picked, (x[:5], [x[7:8].float()])).tolist() == [False, True, False, False]
    assert exactness._is_size_of_one(picked[:1].reshape(()), (x,)).item()
    assert exactness._is_size_of_one(picked, (2,)).all()
