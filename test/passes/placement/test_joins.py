"""What ATen joins by rows, beside eager."""

import pytest
import torch
from differential import assert_same

import dovetail

_WHY = "ATen computes what it joins, without a copy"


def test_what_is_joined_is_written_where_it_belongs():
    """Would catch a copy of steps before a region of one op, and a wrong half of the result."""
    dovetail.stats(reset=True)
    leaves = [torch.randn(512, 512, requires_grad=True) for _ in range(2)]
    assert_same(lambda x, y: torch.cat([x[:, ::2] * 2, y + 1], 1), *leaves)
    stats = dovetail.stats()
    assert stats.library_calls["aten.mul.Scalar", _WHY] == stats.library_calls["aten.add.Scalar", _WHY] == 1
    assert not stats.copies


def test_nothing_is_copied_for_a_join():
    """Would catch parts that are computed in memory of their own: there the peak is twice the result, and more."""
    x, y = torch.randn(512, 512), torch.randn(512, 512)
    compiled = torch.compile(lambda x, y: torch.cat([x[:, ::2] * 2, y + 1], 1), backend="dovetail")
    compiled(x, y)
    with torch.profiler.profile(profile_memory=True) as profile:
        result = compiled(x, y)
    allocated = sum(each.nbytes() for each in profile.profiler.kineto_results.events() if each.nbytes() > 4096)
    assert allocated == result.nbytes


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
    """Would catch an explanation in which a join has no source."""
    explained = str(dovetail.explain(lambda x, y: torch.cat([x * 3, y + 1], 1), *torch.randn(2, 300, 300)))
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
