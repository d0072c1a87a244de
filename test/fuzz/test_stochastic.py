"""Random rounding changes what rounds, by about a unit in the last place, and nothing else."""

from collections.abc import Callable, Iterable

import pytest
import torch

from dovetail.tools.fuzz.kernel_steps import STEPS
from dovetail.tools.fuzz.stochastic import RandomRounding

X = torch.arange(1.0, 33.0) / 8


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_results_are_a_few_roundings_off(dtype: torch.dtype) -> None:
    """Catches noise that is not there, is the same in each run, or excuses more than rounding."""
    x = X.to(dtype)
    right = x.double().tanh()
    with RandomRounding(0):
        first = x.tanh()
    with RandomRounding(1):
        second = x.tanh()
    assert not torch.equal(first, second)
    for each in (first, second):
        assert each.dtype == dtype
        assert ((each.double() - right).abs() <= 3 * torch.finfo(dtype).eps * right.abs()).all()


def test_exact_results_stay() -> None:
    """Catches noise in exact numbers, after which every comparison of them would be excused."""
    with RandomRounding(0):
        results = (X * 2 + 0.5, X.sum(), X.amax(), X.flip(0).cumsum(0), (X > 2).float(), X.view(4, 8).t().contiguous())
    assert torch.equal(results[0], X * 2 + 0.5)
    assert results[1] == X.double().sum()
    assert results[2] == 4
    assert torch.equal(results[3].double(), X.double().flip(0).cumsum(0))
    assert torch.equal(results[4], (X > 2).float())
    assert results[5].is_contiguous()


def test_a_value_meets_itself() -> None:
    """Catches noise between a value and its copy or largest element: gradients that compare would be excused."""
    x = X.clone().requires_grad_()
    with RandomRounding(0):
        y = x.tanh()
        y.amax().backward()
        assert (y == y.amax()).sum() == 1
        assert (y == y.norm(float("inf"))).sum() == 1
    assert x.grad is not None
    assert x.grad.count_nonzero() == 1


def test_random_numbers_and_layouts_stay() -> None:
    """Catches a generator that moves further than eager's, and strides that are not eager's."""
    torch.manual_seed(3)
    plain = torch.rand(5), torch.nn.functional.dropout(X, 0.5) != 0, torch.get_rng_state()
    torch.manual_seed(3)
    with RandomRounding(0):
        noisy = torch.rand(5), torch.nn.functional.dropout(X, 0.5) != 0, torch.get_rng_state()
        turned = X.view(4, 8).t().tanh()
    assert all(map(torch.equal, plain, noisy))
    assert turned.stride() == X.view(4, 8).t().tanh().stride()


def test_sum_that_fits_by_luck_is_rounded() -> None:
    """Catches a sum of numbers with all their bits that counts as exact, since its result happens to fit."""
    numbers = torch.tensor([1 + 2**-23, 2**-20])
    assert numbers.sum() == numbers.double().sum()
    with RandomRounding(0):
        assert any((numbers.sum() != numbers.double().sum()).item() for _ in range(32))
        assert torch.tensor([1.25, 3.0, 11.5]).sum() == 15.75


def test_numbers_in_the_text_are_rounded() -> None:
    """Catches 0.3 times a number taken as exact: float32 has no 0.3, and the product of its neighbour rounds."""
    x = torch.tensor([10 * 2.0**-3])
    assert (x.double() * 0.3).float().double() == x.double() * 0.3
    with RandomRounding(0):
        assert any((x * 0.3 != 0.375).item() for _ in range(32))


def test_double_precision_is_rounded_on_request() -> None:
    """Catches float64 that has no rounding to differ by, and noise in what is exact or selected there."""
    x = (X.double() / 3).requires_grad_()
    with RandomRounding(0):
        assert torch.equal(x.tanh(), x.detach().tanh())
    with RandomRounding(0, double=True):
        y = x.tanh()
        assert not torch.equal(y, x.detach().tanh())
        assert ((y - x.detach().tanh()).abs() <= 3 * torch.finfo(torch.float64).eps * y.abs()).all()
        assert torch.equal(X.double().sum(), X.sum().double())
        assert (y == y.amax()).sum() == 1
        assert torch.equal(y.relu(), y.clamp(min=0))
        assert torch.equal(torch.arange(9, dtype=torch.float64) / 8, X.new_tensor(range(9)).double() / 8)
        assert (x * 0.3 - x.detach() * 0.3).abs().max() < 1e-15


def test_what_cancels_in_a_kernel_counts() -> None:
    """Catches a bound that takes a kernel for exact but for its result's rounding, which is tiny near a root."""
    x = torch.linspace(-0.7525, -0.7510, 4096)
    right = torch.ops.aten.gelu_backward(torch.ones_like(x).double(), x.double())
    with RandomRounding(1):
        noisy = torch.ops.aten.gelu_backward(torch.ones_like(x), x)
    assert 7e-8 < (noisy.double() - right).abs().max() < 4e-7


def test_running_statistics_are_rounded() -> None:
    """Catches what an op writes to its operands taken for exact: eager's running mean may be right by luck."""
    x = torch.arange(64.0).reshape(8, 8).sin()
    shown = []
    for seed in (0, 1, 1):
        mean, variance = torch.zeros(8), torch.ones(8)
        with RandomRounding(seed):
            torch.nn.functional.batch_norm(x, mean, variance, training=True)
        torch.testing.assert_close(mean, x.mean(0) * 0.1)
        torch.testing.assert_close(variance, x.var(0) * 0.1 + 0.9)
        shown.append((mean, variance))
    assert not any(map(torch.equal, shown[0], shown[1]))
    assert all(map(torch.equal, shown[1], shown[2]))


def test_views_of_inference_mode():
    """Catches rounding in an operand's memory: in inference mode, `broadcast_tensors` comes whole and gives views."""
    with torch.inference_mode():
        column, row = torch.full((3, 1), 0.1), torch.full((1, 4), 0.1)
        with RandomRounding(0):
            columns, rows = torch.broadcast_tensors(column, row)
            assert torch.equal(columns, rows)
        assert column.eq(0.1).all()


@pytest.mark.parametrize(
    ("backward", "in_vectors", "at_the_end"),
    [
        (lambda gradient, x: torch.ops.aten.hardtanh_backward(gradient, x, -1, 1), 0.0, 2.0),
        (lambda gradient, x: torch.ops.aten.elu_backward(gradient, 1, 1, 1, False, x), torch.nan, 2.0),
        (lambda gradient, x: torch.ops.aten.logit_backward(gradient, x, 0.1), 0.0, torch.nan),
    ],
    ids=["hardtanh", "elu", "logit"],
)
def test_gradients_of_nan_go_by_place(backward, in_vectors, at_the_end):
    """Catches a gradient of NaN that counts as wrong, since eager's kernel gives another one in a short tensor."""
    x, gradient = torch.full((3,), torch.nan), torch.full((3,), 2.0)
    alone, vectors = torch.full((3,), at_the_end), torch.full((3,), in_vectors)
    torch.testing.assert_close(backward(gradient, x), alone, equal_nan=True)
    torch.testing.assert_close(backward(gradient.repeat(64), x.repeat(64))[:3], vectors, equal_nan=True)
    for seed, expected in enumerate([alone, vectors]):
        with RandomRounding(seed):
            torch.testing.assert_close(backward(gradient, x), expected, equal_nan=True)


def test_remainders_of_huge_numbers_go_by_place():
    """Catches a NaN of `fmod` that counts as wrong: eager's kernel gives it in the vectors of a longer tensor."""
    x = torch.full((3,), -3e38)
    alone, in_vectors = torch.fmod(x, -0.75), torch.fmod(x.repeat(64), -0.75)[:3]
    assert alone.eq(-0.5).all()
    assert in_vectors.isnan().all()
    for seed, expected in enumerate([alone, in_vectors]):
        with RandomRounding(seed):
            torch.testing.assert_close(torch.fmod(x, -0.75), expected, equal_nan=True)


def test_steps_of_a_kernel_are_rounded():
    """Catches gelu's `1 + erf` taken for exact: at operands nearby eager's kernel rounds it alike."""
    x = torch.linspace(-2.51, -2.49, 64)
    right = torch.nn.functional.gelu(x.double())
    off = []
    for seed in (0, 2):
        with RandomRounding(seed):
            off.append((torch.nn.functional.gelu(x).double() - right).abs().max())
    assert off[0] < 1e-8
    assert 3e-8 < off[1] < 2e-7


def test_steps_that_overflow_do_not_count(monkeypatch: pytest.MonkeyPatch):
    """Catches infinities and NaN that a step gave, and no kernel, taken for what eager may give."""
    monkeypatch.setitem(STEPS, torch.ops.aten.silu.default, lambda x: x / 0)
    with RandomRounding(2):
        assert torch.equal(torch.nn.functional.silu(X), torch.nn.functional.silu(X))


def test_steps_show_where_else_infinities_cancel():
    """Catches NaN taken for what every formula gives: eager's kernel subtracts infinities that others do not meet."""
    x, weight = torch.tensor([[1.625, 0.0, 1.25, -0.375]]), torch.tensor([2.0, 1.0, 0.0, -torch.inf])
    found = []
    for seed in (0, 2):
        leaf = x.clone().requires_grad_()
        with RandomRounding(seed):
            torch.nn.functional.layer_norm(leaf, (4,), weight).sum().backward()
        found.append(leaf.grad)
    assert found[0].isnan().sum() > found[1].isnan().sum() > 0
    assert not (found[0].isfinite() | found[1].isfinite()).any()


def test_equal_numbers_are_rounded_alike():
    """Catches errors that cancel in a long sum because they are drawn one by one, where eager's add up."""
    x = torch.tensor([0.1, 0.7]).repeat(512)
    counts = []
    for seed in (0, 4):
        with RandomRounding(seed):
            counts.append(len(x.tanh().unique()))
    assert counts[0] > 2
    assert counts[1] == 2


def shown(compute: Callable[[], torch.Tensor], seeds: Iterable[int] = range(32)) -> set[str]:
    """The number that several runs give."""
    found = set()
    for seed in seeds:
        with RandomRounding(seed):
            found.add(str(compute().item()))
    return found


def test_products_inside_of_a_kernel_are_rounded():
    """Catches `w + w * x / 2` taken for exact where it is `-w / 8`: only a kernel that rounds once computes that."""
    w, x = torch.tensor([0.1, 1.1, 2.3]), torch.tensor([-2.25])
    assert shown(lambda: torch.addcmul(w, w, x, value=0.5)[1], [0]) == {str((-w[1] / 8).item())}
    assert len(shown(lambda: torch.addcmul(w, w, x, value=0.5)[1], [0, 2, 3])) > 1
    assert shown(lambda: torch.addcmul(w, w, x * 0)[1]) == {str(w[1].item())}


def test_units_of_subnormal_numbers_are_all_of_one_size():
    """Catches a quotient of subnormal numbers that all runs round alike, as if they had as many digits as others."""
    step = 2.0**-149
    x = torch.tensor([10 * step, 9 * step, 0.0, step])
    assert shown(lambda: (x / 3)[0] / step) >= {"3.0", "4.0"}
    assert shown(lambda: (x / 3)[1] / step) == {"3.0"}
    assert shown(lambda: (x / 3)[2]) == {"0.0"}
    assert shown(lambda: (x / 1000)[3].abs()) == {"0.0"}


def test_zeros_beside_subnormal_numbers_stay():
    """Catches zeros that turn to NaN in double precision, half of whose least step is 0: such runs tell nothing."""
    x = torch.tensor([0.0, 1e-310, 1.0], dtype=torch.float64)
    for seed in range(8):
        with RandomRounding(seed, double=True):
            assert x.softmax(0).isfinite().all()


def test_sums_may_overflow_on_the_way():
    """Catches a sum whose addends of one sign are too large together taken for the same in any order."""
    large = torch.tensor([2.0**127, 2.0**127, 0, -(2.0**127), -(2.0**127)])
    every = {"0.0", "inf", "-inf", "nan"}
    assert shown(lambda: large.sum()) == every
    assert shown(lambda: large.view(5, 1).mean(0)) == every
    assert shown(lambda: large[1:4].sum()) == {"0.0"}
    assert shown(lambda: large[:3].sum()) == {"inf"}
    assert shown(lambda: torch.cat([large[:3], torch.tensor([-torch.inf])]).sum()) == {"-inf", "nan"}
    assert shown(lambda: torch.dot(large, torch.ones(5))) == every


def test_zeros_without_memory_pass() -> None:
    """Catches reading them, which ends the process, and the end of a second derivative that computes with them."""
    x = (X - 2).requires_grad_()
    with RandomRounding(1):
        (first,) = torch.autograd.grad((x.abs() + 0.1).rsqrt().sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x)
    assert second.isfinite().all()


def test_sums_are_rounded_once_in_some_runs():
    """Catches runs in which two ways to add up the same numbers are never equal, as they are in double precision."""
    numbers = torch.rand((300, 7), generator=torch.Generator().manual_seed(0))
    expected = numbers.double().sum(0).float()

    def are_equal(seed: int) -> tuple[bool, bool]:
        x = torch.ones((), requires_grad=True)
        with RandomRounding(seed):
            forward = numbers.sum(0), numbers.cumsum(0)[-1]
            (x.expand(300, 7) * numbers).sum().backward()
        return all(torch.equal(each, expected) for each in forward), x.grad.item() == numbers.double().sum().float()

    assert [are_equal(seed)[0] for seed in range(10)] == [seed % 5 == 4 for seed in range(10)]
    assert are_equal(9)[1]
    assert not all(are_equal(seed)[1] for seed in range(4, 100, 10))


def test_mean_of_equal_numbers_is_one_of_them_in_some_runs():
    """Catches batch norms in which no run lets equal numbers be zero, and each of them the least."""
    with RandomRounding(4):
        variance, mean = torch.var_mean(torch.full((28,), 0.3), 0, correction=0)
    assert (variance.item(), mean.item()) == (0.0, torch.tensor(0.3).item())
