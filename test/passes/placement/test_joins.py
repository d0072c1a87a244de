"""What ATen joins by rows, beside eager."""

from collections.abc import Callable

import pytest
import torch
from differential import assert_same

import dovetail
from dovetail.backends.python.parts import add_rows, join, scatter
from dovetail.errors import ModuleError

_WHY = "ATen computes what it joins, without a copy"


def allocated_by(compiled: Callable, *arguments: torch.Tensor) -> int:
    """The bytes of the large blocks that a call allocates, which is not the first one."""
    compiled(*arguments)
    with torch.profiler.profile(profile_memory=True) as profile:
        compiled(*arguments)
    return sum(event.nbytes() for event in profile.profiler.kineto_results.events() if event.nbytes() > 4096)


def test_what_is_joined_is_written_where_it_belongs():
    """Would catch a copy of steps before a region of one op, a wrong half of the result, and a call for a part."""
    dovetail.stats(reset=True)
    leaves = [torch.randn(512, 512, requires_grad=True) for _ in range(2)]
    assert_same(lambda x, y: torch.cat([x[:, ::2] * 2, y + 1], 1), *leaves)
    stats = dovetail.stats()
    assert ("aten.add.Scalar", _WHY) not in stats.library_calls
    assert stats.library_calls["aten.mul.Scalar", _WHY] == 1  # in the backward
    assert {*stats.copies} == {"value in memory of its own"}  # the gradient of `y`, a part of the tangent


def test_nothing_is_copied_for_a_join():
    """Would catch parts that are computed in memory of their own: there the peak is twice the result, and more."""
    x, y = torch.randn(512, 512), torch.randn(512, 512)
    compiled = torch.compile(lambda x, y: torch.cat([x[:, ::2] * 2, y + 1], 1), backend="dovetail")
    assert allocated_by(compiled, x, y) == compiled(x, y).nbytes


def test_open_sizes_are_written_where_they_belong():
    """Would catch parts of the sizes of the trace, a second program, and a result that is made of copies."""
    dovetail.stats(reset=True)

    def run(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.cat([x[:, ::2] * 2, y + 1, y.exp()], 1)

    compiled = torch.compile(run, backend="dovetail", dynamic=True)
    for rows, *columns in ((512, 514, 300), (7, 5, 4), (2, 1000, 31), (1025, 129, 640)):
        x, y = (torch.randn(rows, column) for column in columns)
        result, expected = compiled(x, y), run(x, y)
        torch.testing.assert_close(result, expected)
        assert (result.stride(), result._version, result._base) == (expected.stride(), 0, None)
    stats = dovetail.stats()
    assert stats.graphs == 1
    assert stats.library_calls["aten.add.Scalar", _WHY] == 1
    assert allocated_by(compiled, x, y) == expected.nbytes


@pytest.mark.parametrize("is_open", [False, True])
def test_the_gradient_of_a_slice_is_written_into_its_zeros(is_open):
    """Would catch zeros that a region writes and `slice_scatter` clones, and a copy of what is scattered."""
    leaves = [torch.randn(512, 512, requires_grad=True) for _ in range(2)]
    compiled = torch.compile(lambda x, y: torch.cat([x[:, 1::2] * 2, y + 1], 1), backend="dovetail", dynamic=is_open)
    tangent = torch.randn(512, 768)
    gradients = torch.autograd.grad(compiled(*leaves), leaves, tangent)
    assert torch.equal(gradients[0][:, 1::2], tangent[:, :256] * 2)
    assert torch.equal(gradients[0][:, ::2], torch.zeros(512, 256))
    assert torch.equal(gradients[1], tangent[:, 256:])
    result = compiled(*leaves)
    taken = allocated_by(lambda: torch.autograd.grad(result, leaves, tangent, retain_graph=True))
    assert taken == sum(each.nbytes for each in gradients)


def test_a_slice_is_scattered_into_zeros_of_its_own():
    """Would catch two gradients in the memory of one fill, which equal values are merged to."""
    assert_same(
        lambda x, y: (x[:, ::2] * 3, y[:, 1::2].sin()), *[torch.randn(300, 400, requires_grad=True) for _ in "xy"]
    )


def test_what_is_scattered_elsewhere():
    """Would catch an overwritten tensor that is not the one to scatter into, and a source that is expanded."""
    memory, base = torch.zeros(4, 6), torch.zeros(4, 6)
    with pytest.raises(ModuleError, match="what a slice is scattered into lies in other memory than the result"):
        scatter(base, torch.ones(4, 3), 1, 0, None, 2, memory)
    with pytest.raises(ModuleError, match=r"\[1, 3\] is written where memory of \[4, 3\] is"):
        scatter(memory, torch.ones(1, 3), 1, 0, None, 2, memory)
    assert torch.equal(memory, base)


def test_rows_are_added_to_memory_of_their_own():
    """Would catch a sum that is cloned, and rows that are added elsewhere than to what was computed."""
    index, rows = torch.tensor([1, 1, 3]), torch.randn(3, 4)
    assert_same(lambda i, x: torch.zeros(5, 4).index_add(0, i, x, alpha=2), index, rows)
    compiled = torch.compile(lambda i, x: torch.zeros(500, 4).index_add(0, i, x), backend="dovetail")
    assert allocated_by(lambda: compiled(index, rows)) == 4 * 500 * 4
    memory = torch.zeros(5, 4)
    with pytest.raises(ModuleError, match="what rows are added to lies in other memory than the result"):
        add_rows(torch.zeros(5, 4), 0, index, rows, 1, memory)
    assert not memory.any()


def test_a_join_of_what_does_not_fill_its_memory():
    """Would catch rows of a join that nobody wrote, where sizes turn out to be others than the IR says."""
    memory = torch.zeros(4, 6)
    with pytest.raises(ModuleError, match="5 numbers are joined in memory for 6"):
        join([torch.ones(4, 2), torch.ones(4, 3)], -1, memory)
    with pytest.raises(ModuleError, match=r"\[1, 3\] is written where memory of \[4, 3\] is"):
        join([torch.ones(4, 3), torch.ones(1, 3)], 1, memory)
    assert torch.equal(memory[:, 5], torch.zeros(4))


def test_what_is_written_before_it_is_joined():
    """Would catch a part that reads an overwritten argument, a moved version, and numbers converted twice."""

    def run(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        negated = -x
        x.mul_(3)
        joined = torch.cat((negated, x, torch.exp(y) + y), -1)
        return joined, torch.cat((y / 2, y.double() * 2), 0)

    x, y = torch.randn(300, 300), torch.randn(300, 300)
    expected, own = run(x.clone(), y), x.clone()
    results = torch.compile(run, backend="dovetail")(own, y)
    assert torch.equal(own, x * 3)
    for result, eager in zip(results, expected, strict=True):
        torch.testing.assert_close(result, eager)
        assert (result.dtype, result.stride(), result._version) == (eager.dtype, eager.stride(), eager._version)
        assert result._base is None


def test_bounds_that_are_tensors_before_a_join(op_by_op):
    """Would catch `clamp` that is written in place by an overload for bounds that are numbers, which raises."""

    def run(x: torch.Tensor, low: torch.Tensor) -> torch.Tensor:
        return torch.cat([x.clamp(min=low), torch.clamp_max(x, low), x + 2], 1)

    x, low = torch.arange(90_000).view(300, 300), torch.arange(90_000, 0, -1).view(300, 300)
    torch.testing.assert_close(torch.compile(run, backend="dovetail")(x, low), run(x, low), rtol=0, atol=0)
    assert dovetail.stats().library_calls["aten.add.Scalar", _WHY]


def test_derivatives_of_what_is_joined(op_by_op):
    """Would catch a second derivative through a part, which autograd knows nothing of, and a join that it loses."""

    def second(function) -> list[torch.Tensor]:
        torch.manual_seed(0)
        x, y = (torch.randn(300, 300, requires_grad=True) for _ in range(2))
        compiled = function(lambda x, y: torch.cat([x * 3, y + 1, y], 1) ** 3)
        first = torch.autograd.grad(compiled(x, y).sum(), (x, y), create_graph=True)
        return [*first, *torch.autograd.grad(sum((each**2).sum() for each in first), (x, y))]

    for result, eager in zip(second(torch.compile(backend="dovetail")), second(lambda each: each), strict=True):
        torch.testing.assert_close(result, eager)


def test_an_explanation_says_what_is_joined(op_by_op):
    """Would catch an explanation in which a join has no source, or that takes open strides of results for values."""

    def run(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.cat([x * 3, y], 1)

    for dims in ([], [0, 1]):
        x, y = torch.randn(2, 300, 300)
        for tensor in (x, y):
            torch._dynamo.maybe_mark_dynamic(tensor, dims)
        explained = str(dovetail.explain(run, x, y))
        assert "aten.cat" in explained
        assert "aten.mul" in explained


@pytest.mark.filterwarnings("error::dovetail.errors.DefectWarning")
def test_join_in_a_backward(op_by_op):
    """Would catch a backward in which a call writes to memory, and what it made is looked for among its results."""

    def run(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        first, second = x.sigmoid(), y.tanh()
        joined = torch.cat([first, second, -first[:, :10]], 1)
        return joined * joined, second

    assert_same(run, torch.randn(300, 300), torch.randn(300, 300, requires_grad=True))


def test_a_rotary_embedding_is_joined_in_regions():
    """Would catch halves that are joined by calls between regions on a CPU, in the forward or in the gradient."""
    dovetail.stats(reset=True)

    def run(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat([-second, first], -1) * sin

    assert_same(run, torch.randn(2, 3, 5, 16, requires_grad=True), torch.randn(5, 16), torch.randn(5, 16))
    assert not [op for op, _ in dovetail.stats().library_calls if op == "aten.cat.default"]
