"""Results of reductions that meet themselves along another dimension: tiles of a loop need one another's.

The number of regions tells what would be wrong in one of them, so that most of these run op by op.
"""

from collections.abc import Callable

import pytest
import torch

import dovetail


def _outer(x: torch.Tensor) -> torch.Tensor:
    largest = x.amax(-1)
    return largest[:, None] * largest


def _by_way_of_others(x: torch.Tensor) -> torch.Tensor:
    largest = x.amax(-1).exp()
    return (largest + 1).unsqueeze(1) - largest


def _transposed(x: torch.Tensor) -> torch.Tensor:
    mean = x.mean(-1, keepdim=True)
    return mean - mean.t()


def _square(x: torch.Tensor) -> torch.Tensor:
    total = x.reshape(64, 64, 16).sum(-1)
    return total + 2 * total.t()


def _regions(function: Callable, *args: torch.Tensor) -> int:
    dovetail.stats(reset=True)
    compiled = torch.compile(function, backend="dovetail", options={"strict": True})
    torch.testing.assert_close(compiled(*args), function(*args))
    return dovetail.stats().regions


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize("function", [_outer, _by_way_of_others, _transposed, _square])
def test_crossed(function: Callable):
    """In one region, 3,584 of the 4,096 numbers of the first were what memory happened to hold."""
    assert _regions(function, torch.randn(64, 1024)) == 2


def _spread(dims: tuple[int, ...], then: tuple[int, ...]) -> Callable:
    def spread(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        positive = x.relu()
        total = positive.sum(dims, keepdim=True)
        return total, (total - positive).sum(then)

    return spread


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize(("dims", "then"), [((0,), (0, 1, 2)), ((0, 1), (0, 2)), ((2,), (1, 2))])
def test_spread_and_reduced(dims: tuple[int, ...], then: tuple[int, ...]):
    """In one region, a sum over 6 rows was 6 times as large: it was added to itself for each row that read it."""
    assert _regions(_spread(dims, then), torch.randn(6, 16, 24)) == 2


@pytest.mark.usefixtures("op_by_op")
def test_spread_and_averaged_in_a_stated_type():
    """The type of the mean, a number of PyTorch's, was taken for the dimension that it reduces."""

    def spread(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        total = x.sum(0, keepdim=True)
        return total, (x - total).mean(dtype=torch.float32)

    assert _regions(spread, torch.randn(4, 8)) == 2


def test_expanded_and_reduced():
    """The same behind a view, where the loss of a training step was 4 times as large."""

    def expanded(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        positive = x.relu()
        total = positive.sum(0, keepdim=True)
        return total, (total.expand(6, 5) * positive).mean()

    assert _regions(expanded, torch.randn(6, 5)) == 2


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize(
    "through",
    [
        lambda x: x.mean(1, keepdim=True),
        lambda x: x.sum(1),
        lambda x: x.prod(1),
        lambda x: (x > 1).any(1),
        lambda x: x.flip(1),
        lambda x: x.repeat(1, 1, 1),
        lambda x: torch.nn.functional.pad(x, (0, 0)),
    ],
    ids=["mean", "sum", "prod", "any", "flip", "repeat", "pad"],
)
def test_reduced_and_moved_along_one_element(through: Callable):
    """An op in between takes one element to one element: the sum over 9 rows was 9 times as large, silently."""

    def spread(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        total = x.sum((0, 1), keepdim=True)
        return total, through((x - total).abs()).sum(dtype=torch.float32)

    assert _regions(spread, torch.randn(9, 1, 3)) == 2


def test_softmax_of_one_head():
    """A softmax over rows, in training: the sum that it divides by was 9 times as large, and all results were wrong."""

    def attended(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        weights = x.softmax(0)
        return weights.sum(0), (weights * x).sum(1).sum()

    given, gradients = torch.randn(9, 1, 4), []
    for function in (attended, torch.compile(attended, backend="dovetail")):
        x = given.clone().requires_grad_()
        each, total = function(x)
        torch.testing.assert_close(each, torch.ones(1, 4))
        total.backward()
        gradients.append(x.grad)
    torch.testing.assert_close(gradients[1], gradients[0])


@pytest.mark.usefixtures("op_by_op")
def test_losses_after_an_order():
    """Would catch regions that end without need: what a gather chooses of a softmax is reduced in its region."""

    def loss(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return -x.log_softmax(1).gather(1, target).mean()

    assert _regions(loss, torch.randn(64, 1024), torch.randint(1024, (64, 1))) == 1


@pytest.mark.usefixtures("op_by_op")
def test_reduced_as_it_lies():
    """Would catch regions that end without need: the second sum takes in what the first one left, or did."""

    def norms(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        mean = x.mean(1, keepdim=True)
        return mean, mean.square().sum(), (x - mean).square().mean(1)

    assert _regions(norms, torch.randn(64, 1024)) == 1


@pytest.mark.usefixtures("op_by_op")
def test_not_crossed():
    """Would catch regions that end without need: a softmax or a norm would go through memory."""

    def softmax(x: torch.Tensor) -> torch.Tensor:
        largest = x.amax(-1)
        shifted = (x - largest[:, None]).exp()
        return shifted / shifted.sum(-1).unsqueeze(1) + largest.square().add(1).rsqrt()[:, None]

    assert _regions(softmax, torch.randn(64, 1024)) == 1


def test_list_of_several_forms():
    """Would catch a compilation that never ends: a list of a result and its view counted as an op on both."""

    def joined(x: torch.Tensor) -> torch.Tensor:
        largest = x.amax(-1, keepdim=True)
        return torch.cat([largest[:1], largest.tanh(), largest])

    assert _regions(joined, torch.randn(31, 3, 31)) == 1
