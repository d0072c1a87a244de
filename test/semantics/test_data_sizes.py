"""Sizes that only data tells, under `fullgraph=True`: what library calls make of data is as in eager."""

import math
from collections.abc import Callable
from contextlib import nullcontext

import pytest
import torch
from torch.nn import functional as F

import dovetail
from test.support.differential import compare, observe
from test.support.joined import by, joined, twins
from test.support.old_torch import cases

# By whether all sizes are open: those that are not are what the first call has.
SIZES = {False: (6, 6), True: (6, 4, 11)}


def tensor(*size: int, grad: bool = True) -> torch.Tensor:
    return torch.randn(*size).requires_grad_(grad)


def rows_of_places(x):
    indices = x.detach().nonzero()
    return indices.t() * 2, indices[:, 0] + indices.shape[0]


def chosen_loss(x, w, mask):
    chosen = x[mask]
    return F.mse_loss(chosen @ w, torch.ones(chosen.shape[0], w.shape[1])), chosen.softmax(-1)


def twice(x):
    positive = x[x > 0]
    return positive[positive < 0.5].sum(), positive.reshape(-1, 1).expand(-1, 3) * 2


def written(x, mask):
    x[mask] = x[mask] * 2 + 1
    return x.sum()


def padded(x, mask):
    chosen = torch.masked_select(x, mask)
    return torch.cat([chosen, chosen.new_zeros(x.shape[0])]).sin()


def read_number(x, count):
    return x * count.item() + x.shape[0], torch.full((2,), count.item())


def read_float(x, scale):
    return x * scale.item(), (x * 2).sum()


def parts(x, lengths):
    return [each * 2 for each in x.split(lengths.tolist())]


def cut(x, count):
    number = count.item()
    torch._check(number >= 0)
    torch._check(number <= x.shape[0])
    return x[:number].exp(), x.narrow(0, 0, number).sum(0)


def number_of_elements(i):
    # PyTorch 2.11 forgets the default device of the second.
    return torch.zeros(i.item()) + torch.arange(i.item(), device=i.device)


def unique_counts(x):
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    return values * 2, inverse + counts.shape[0], counts.float().mean()


def mask_of(n: int) -> torch.Tensor:
    return torch.arange(n) % 3 != 0


PROGRAMS: dict[str, tuple[Callable, Callable]] = {
    "nonzero": (lambda x: x.nonzero() * 2, lambda n: [tensor(n, 4, grad=False).relu()]),
    "places": (rows_of_places, lambda n: [tensor(n, 4, grad=False).relu()]),
    "masked_select": (lambda x: torch.masked_select(x, x > 0).sin(), lambda n: [tensor(n, 4, grad=False)]),
    "boolean index": (lambda x: x[x > 0] * 3, lambda n: [tensor(n, 4)]),
    "rows of a mask": (lambda x, m: x[m] * 3, lambda n: [tensor(n, 4), mask_of(n)]),
    "loss of chosen rows": (chosen_loss, lambda n: [tensor(n, 4), tensor(4, 3), mask_of(n)]),
    "chosen of the chosen": (twice, lambda n: [tensor(n, 4)]),
    "written by a mask": (written, lambda n: [tensor(n, 4, grad=False), mask_of(n)]),
    "padded": (padded, lambda n: [tensor(n, 4, grad=False), torch.randn(n, 4) > 0]),
    "unique": (unique_counts, lambda n: [torch.randint(5, (n,))]),
    "item": (read_number, lambda n: [tensor(n, 4), torch.tensor(n)]),
    "item of floating point": (read_float, lambda n: [tensor(n, 4), torch.tensor(n / 3)]),
    "item as a size": (number_of_elements, lambda n: [torch.tensor(n)]),
    "item of a result": (lambda x: x * (x > 0).sum().item(), lambda n: [tensor(n, 4)]),
    "tolist": (parts, lambda n: [tensor(n, 4), torch.tensor([n - 2, 2])]),
    "tolist of one row": (parts, lambda n: [tensor(1, n), torch.tensor([0, 1, 0])]),
    "cut": (cut, lambda n: [tensor(n, 4), torch.tensor(n - 1)]),
    "repeat_interleave": (
        lambda x, r: x.repeat_interleave(r, 0) * 2,
        lambda n: [tensor(n, 2), torch.arange(n) % 3],
    ),
    "bincount": (lambda x: torch.bincount(x) + 1, lambda n: [torch.randint(n, (n,))]),
    "none chosen": (lambda x: x[x > 100] * 2, lambda n: [tensor(n, 4)]),
}
ROWS_OF_LOSS = ("loss of chosen rows",)
GROUPS = by(5, PROGRAMS, alone=ROWS_OF_LOSS)


@pytest.mark.parametrize("dynamic", SIZES)
@pytest.mark.parametrize("names", cases(GROUPS, {ROWS_OF_LOSS: "asks whether one row was chosen"}), ids=", ".join)
def test_sizes_of_data(op_by_op, names, dynamic):
    """A graph with such a size runs eagerly, or a result or a gradient has another call's size."""
    function, make = joined(PROGRAMS, names)
    compiled = torch.compile(function, backend="dovetail", dynamic=dynamic, fullgraph=True)
    dovetail.stats(reset=True)
    for call, size in enumerate(SIZES[dynamic]):
        arguments = make(size)
        pairs = (function, arguments), (compiled, twins(arguments))
        expected, actual = (observe(*each, None, None, True, {}) for each in pairs)
        compare(f"call {call}, size {size}", expected, actual)
    stats = dovetail.stats()
    assert not stats.specialised
    assert not stats.eager
    assert stats.graphs == 1


def checked(x, flags):
    number = flags.sum().item()
    torch._check(number <= x.shape[0], lambda: "too many rows")
    torch._check(number != 3)
    return x.narrow(0, 0, number) * 2


def test_a_check_that_fails(op_by_op):
    """`torch._check` is dropped: the program reads beyond a tensor, or returns what eager refuses."""
    compiled = torch.compile(checked, backend="dovetail", fullgraph=True)
    dovetail.stats(reset=True)
    x = torch.randn(5, 4)
    flags = {count: torch.arange(9) < count for count in range(9)}
    torch.testing.assert_close(compiled(x, flags[2]), checked(x, flags[2]))
    # PyTorch 2.11 forgets the message.
    with pytest.raises(RuntimeError, match=r"too many rows|Runtime assertion failed for expression u0 <= 5"):
        compiled(x, flags[6])
    with pytest.raises(RuntimeError, match="Runtime assertion failed for expression Ne"):
        compiled(x, flags[3])
    torch.testing.assert_close(compiled(x, flags[5]), checked(x, flags[5]))
    stats = dovetail.stats()
    assert not stats.eager
    assert stats.graphs == 1


def test_data_sizes_through_regions():
    """What has a size of data goes into a region, which has no number for it."""

    def function(x, w):
        y = torch.relu(x * w + 1)
        chosen = y[y > 1]
        return torch.softmax(y, -1), (chosen * 2).sum() + chosen.numel()

    compiled = torch.compile(function, backend="dovetail", fullgraph=True, dynamic=True)
    for size in (6, 9):
        arguments = [tensor(size, 4), tensor(4, grad=False)]
        pairs = (function, arguments), (compiled, twins(arguments))
        expected, actual = (observe(*each, None, None, True, {}) for each in pairs)
        compare(f"size {size}", expected, actual)


def test_sizes_of_data_break_the_graph_without_fullgraph(op_by_op):
    """A graph that Dynamo would break is compiled in another way than with other backends."""
    compiled = torch.compile(lambda x: x.nonzero() * 2, backend="dovetail")
    dovetail.stats(reset=True)
    x = torch.randn(6, 4).relu()
    torch.testing.assert_close(compiled(x), x.nonzero() * 2)
    assert not dovetail.stats().eager


UNBACKED = {
    "pointwise": lambda x: x * 2,
    "sums": lambda x: x.sum(0) + x.softmax(-1).sum(),
    "product": lambda x: x @ x.t(),
    "views": lambda x: x.reshape(-1)[1:],
}


@pytest.mark.parametrize("name", cases(UNBACKED, {"views": "has a slice begin where only data tells"}))
def test_sizes_marked_as_unbacked(name):
    """`mark_unbacked` has the graph run eagerly, or 0 and 1 have programs of their own."""
    function = UNBACKED[name]
    compiled = torch.compile(function, backend="dovetail", fullgraph=True)
    dovetail.stats(reset=True)
    for size in (5, 1, 0, 7):
        x = torch.randn(size, 4)
        torch._dynamo.decorators.mark_unbacked(x, 0)
        torch.testing.assert_close(compiled(x), function(x))
    stats = dovetail.stats()
    assert not stats.eager
    assert stats.graphs == 1


def test_unbacked_sizes_are_not_those_of_now(op_by_op):
    """What must run eagerly is tried again with sizes of now, which an unbacked one has not: a warning of a defect."""
    compiled = torch.compile(lambda x: x[(x > 0).sum().item() - 20 :], backend="dovetail", fullgraph=True)
    dovetail.stats(reset=True)
    x = torch.ones(5, 4)
    torch._dynamo.decorators.mark_unbacked(x, 0)
    torch.testing.assert_close(compiled(x), x)
    (reason,) = dovetail.stats().eager
    assert reason.endswith("by a number that only data tells is not supported yet")


def test_a_cut_of_nothing(op_by_op):
    """The number 0, of which another graph is compiled, had the layout of nothing asked for open sizes: an error."""
    compiled = torch.compile(cut, backend="dovetail", dynamic=True, fullgraph=True)
    dovetail.stats(reset=True)
    for number in (3, 0, 2):
        x, count = torch.randn(5, 4), torch.tensor(number)
        torch.testing.assert_close(compiled(x, count), cut(x, count))
    assert not dovetail.stats().eager


def test_a_number_that_is_read_stays_open(op_by_op):
    """What can't be had for all numbers was tried for the one of now without telling Dynamo: its error, Unsupported."""
    function = lambda x, n: x * int(n.item() * 0.7 * 3.1)  # noqa: E731
    compiled = torch.compile(function, backend="dovetail", dynamic=True, fullgraph=True)
    dovetail.stats(reset=True)
    for number in (3, 4):
        x, count = torch.randn(5, 4), torch.tensor(number)
        torch.testing.assert_close(compiled(x, count), function(x, count))
    (reason,) = dovetail.stats().eager
    assert reason.endswith("can't be open: what is rounded may differ from what its text says")


def test_a_check_that_negates(op_by_op):
    """A check as PyTorch 2.11 writes `number != 3` runs the graph eagerly."""

    def function(x, flags):
        number = flags.sum().item()
        torch._check(torch.sym_not(number == 3))
        return x * number

    compiled = torch.compile(function, backend="dovetail", fullgraph=True)
    dovetail.stats(reset=True)
    flags = torch.arange(9) < 2
    torch.testing.assert_close(compiled(torch.ones(4), flags), torch.ones(4) * 2)
    with pytest.raises(RuntimeError, match="Runtime assertion failed for expression Ne"):
        compiled(torch.ones(4), torch.arange(9) < 3)
    assert not dovetail.stats().eager


def of_number(x, mask):
    number = x.sum().long().item()
    torch._check(number == 4)
    return x * number, x + 1


def of_size(x, mask):
    number = x.sum().long().item()
    torch._check(number == x.shape[0])
    return (x * number,)


def of_rows(x, mask):
    return x + x[mask], x[mask] * 2


def of_writes(x, mask):
    rows = x[mask]
    x.lerp_(rows, 0.5)
    return (rows.zero_(),)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("function", [of_number, of_size, of_rows, of_writes])
def test_numbers_that_are_taken_for_others(op_by_op, function, dynamic):
    """Silent: 4 stood for a number that the call's data made 8, and 31 rows were returned for the one of a mask."""
    compiled = torch.compile(function, backend="dovetail", fullgraph=True, dynamic=dynamic)
    dovetail.stats(reset=True)
    every = torch.ones(4, dtype=torch.bool)
    fits, other = torch.tensor([[1.0], [1], [0], [2]]), torch.ones(4, 1) * 2
    for result, expected in zip(compiled(fits.clone(), every), function(fits.clone(), every), strict=True):
        torch.testing.assert_close(result, expected)
    mask = torch.arange(4) < 1
    before = other.clone()
    with pytest.raises(
        RuntimeError, match=r"expected to read (4|the number that the call's sizes make),|Runtime assertion failed"
    ):
        compiled(other, mask)
    torch.testing.assert_close(other, before)
    eager = [reason for reason in dovetail.stats().eager if "PyTorch takes a size that only data tells for" in reason]
    assert len(eager) == (function in (of_rows, of_writes))


@pytest.mark.parametrize("dynamic", [None, True])
def test_a_number_of_an_argument_is_taken_for_another(op_by_op, dynamic):
    """Silent: a number that an argument holds was that of the first call in each, where a check said which it is."""

    def function(x, y):
        number = x.item()
        torch._check(number == 4.0)
        return y * number

    compiled = torch.compile(function, backend="dovetail", fullgraph=True, dynamic=dynamic)
    dovetail.stats(reset=True)
    torch.testing.assert_close(compiled(torch.tensor(4.0), torch.ones(3)), torch.full((3,), 4.0))
    with pytest.raises(RuntimeError, match="Runtime assertion failed"):
        compiled(torch.tensor(5.0), torch.ones(3))
    assert any("PyTorch takes the number in an argument for 4.0" in reason for reason in dovetail.stats().eager)


def test_unbacked_sizes_that_meet_are_compiled(op_by_op):
    """Arguments of sizes that `mark_unbacked` names ran eagerly where an op takes two for one, which guards check."""

    def rows(count):
        made = torch.arange(float(count))
        torch._dynamo.decorators.mark_unbacked(made, 0)
        return made

    compiled = torch.compile(lambda x, y: x + y, backend="dovetail", fullgraph=True)
    dovetail.stats(reset=True)
    for count in (3, 5):
        torch.testing.assert_close(compiled(rows(count), rows(count)), rows(count) * 2)
    assert not dovetail.stats().eager


LEFT = {
    "a view of an argument": lambda x, count: x[count.item() :],
    "a view of a result": lambda x, count: (x * 2)[count.item() :],
}


@pytest.mark.parametrize("name", LEFT)
def test_what_leaves_by_data(op_by_op, name):
    """A view that is returned ends in a KeyError of the pass `partition`, a defect."""
    function = LEFT[name]
    compiled = torch.compile(function, backend="dovetail", fullgraph=True)
    dovetail.stats(reset=True)
    x, count = tensor(5, 4), torch.tensor(2)
    torch.testing.assert_close(compiled(x, count), function(x, count))
    (reason,) = dovetail.stats().eager
    assert reason.endswith("by a number that only data tells is not supported yet")


def counted(x):
    positive, others = (x > 0).sum().item(), (x <= 0).nonzero().shape[0]
    torch._check(positive + others == x.numel())
    torch._check(positive * 2 >= 1)
    return positive, others * 2 + 1, positive > 3, positive == others, positive, x[x > 0] * positive


def measured(x):
    largest = x.amax().item()
    torch._check(torch.sym_not(largest > 1000.5))
    signs = [largest > 0, largest >= 1, largest < 0.5, largest <= 0, largest == 0, largest != 0]
    return *signs, torch.sym_not(largest > 2), largest, largest / 2 + 1, x * 2


def of_sizes(x):
    return x.shape[0] > 7, x.shape[0] / 3, x.shape[0] * 2, x * 2


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("function", [counted, measured, of_sizes])
def test_numbers_that_leave(op_by_op, function, requires_grad):
    """A graph that returns a number told by data, or a truth value, runs eagerly; or the number is a tensor, an int."""
    compiled = torch.compile(function, backend="dovetail", dynamic=True, fullgraph=True)
    dovetail.stats(reset=True)
    for size in (6, 9, 5):
        x = torch.arange(size) - 1.5 + (math.nan if size == 5 and function is measured else 0)
        x.requires_grad_(requires_grad)
        *expected, tensor_ = function(x)
        *numbers, result = compiled(x)
        assert repr(numbers) == repr(expected)
        torch.testing.assert_close(result, tensor_, equal_nan=True)
        assert result.requires_grad == requires_grad
    stats = dovetail.stats()
    assert not stats.specialised
    assert not stats.eager
    assert stats.graphs == 1


class Halved(torch.autograd.Function):
    """Its backward divides, as Python does."""

    @staticmethod
    def forward(ctx, x, count):
        ctx.count = count
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * (1.0 / ctx.count), None


MEANS = {
    "mean": lambda x: x.mean(),
    "loss": lambda x: F.mse_loss(x, torch.zeros_like(x)),
    "robust loss": lambda x: F.huber_loss(x, torch.zeros_like(x)),
    "variance": lambda x: x.var(0, correction=0),
    "variance of numbers": lambda x: x.var(),
    "deviation": lambda x: x.std(0),
    "softmax": lambda x: x.softmax(0),
    "largest": lambda x: x.amax(1),
}


_ASKS = "asks whether one row was chosen"


@pytest.mark.parametrize(
    "name", cases(MEANS, {"softmax": "takes the largest of no numbers", "loss": _ASKS, "robust loss": _ASKS})
)
def test_statistics_of_nothing(op_by_op, name):
    """The mean loss of no rows raises ZeroDivisionError in the backward: Python divides by their number.

    Or the graph runs eagerly, since which is larger, the number of rows less 1 or 0, can't be asked.
    """
    function = lambda x, mask: MEANS[name](x[mask])  # noqa: E731
    compiled = torch.compile(function, backend="dovetail", fullgraph=True)
    dovetail.stats(reset=True)
    x = torch.randn(5, 4)
    for mask in ([True] * 5, [False] * 5, [True] + [False] * 4):
        one, other = x.clone().requires_grad_(), x.clone().requires_grad_()
        expected, result = function(one, torch.tensor(mask)), compiled(other, torch.tensor(mask))
        torch.testing.assert_close(result, expected, equal_nan=True)
        expected.sum().backward()
        result.sum().backward()
        torch.testing.assert_close(other.grad, one.grad, equal_nan=True)
    # PyTorch asks so itself for the gradient of a variance of all numbers.
    assert bool(dovetail.stats().eager) == (name == "variance of numbers")


def test_largest_of_nothing():
    """A region takes no tensor without elements: its launch plan raised ValueError where eager raises RuntimeError."""
    compiled = torch.compile(lambda x: x[x > 0].max(), backend="dovetail", fullgraph=True)
    for sign in (1, -1):
        with pytest.raises(RuntimeError, match="Expected reduction dim") if sign < 0 else nullcontext():
            assert compiled(torch.arange(1.0, 4.0) * sign) == 3


def test_backward_in_python_divides_as_python(op_by_op):
    """A custom function's backward gives infinities where Python, which eager runs there, raises."""
    compiled = torch.compile(lambda x: Halved.apply(x, x[x > 0].shape[0]), backend="dovetail", fullgraph=True)
    compiled(torch.ones(3, requires_grad=True)).sum().backward()
    with pytest.raises(ZeroDivisionError):
        compiled(-torch.ones(3, requires_grad=True)).sum().backward()
