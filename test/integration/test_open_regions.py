"""Regions whose sizes are known at a call: one program, and eager's numbers for sizes that were never traced."""

import torch

import dovetail

SIZES = ((5, 48), (7, 48), (2, 48), (31, 48), (64, 17), (129, 48), (33, 1030))


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x * 3 + 1, -1)


def layer_norm(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x, x.shape[1:])


def column_sums(x: torch.Tensor) -> torch.Tensor:
    return (x * x).sum(0)


def mean_of_all(x: torch.Tensor) -> torch.Tensor:
    return (x.tanh() - 0.5).mean()


def activations(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.gelu(x) + torch.sigmoid(x).log() + x.exp().log1p()


def crossed(x: torch.Tensor) -> torch.Tensor:
    row = x.amax(-1)
    return row[:, None] * row


def turned(x: torch.Tensor) -> torch.Tensor:
    return torch.cos(x.t()) + 1


def half(x: torch.Tensor) -> torch.Tensor:
    return x.bfloat16() * 1e-9 + torch.sin(x.bfloat16())


def error(result: torch.Tensor, exact: torch.Tensor) -> float:
    return (result.double() - exact).abs().max().item()


def assert_one_program_with_plans() -> None:
    stats = dovetail.stats()
    assert not stats.specialised
    assert stats.graphs == 1
    assert stats.launches["plan"] == stats.regions > 0


def assert_as_near(ours: torch.Tensor, theirs: torch.Tensor, exact: torch.Tensor) -> None:
    """Asserts that our error is at most three times eager's, but for the last bit of the largest number."""
    least = torch.finfo(theirs.dtype).eps * exact.abs().max().item()
    assert error(ours, exact) <= 3 * error(theirs, exact) + least, ours.shape


def test_sizes_that_were_never_traced():
    """Would catch rows that no workgroup computes, a sum whose error grows with its length, a second compilation."""

    def function(*given: torch.Tensor) -> list[torch.Tensor]:
        return [each(x) for each, x in zip((mean_of_all, crossed, turned), given, strict=True)]

    torch.manual_seed(0)
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    compiled = torch.compile(function, backend="dovetail", dynamic=True)
    for rows, columns in SIZES:
        given = [torch.randn(rows, columns) for _ in range(3)]
        results = compiled(*given), function(*given), function(*(x.double() for x in given))
        for result, expected, exact in zip(*results, strict=True):
            assert result.dtype == expected.dtype
            assert result.shape == expected.shape
            assert result.stride() == expected.stride()
            assert_as_near(result, expected, exact)
    assert_one_program_with_plans()


def test_half_precision_is_rounded_as_in_a_region_of_known_sizes():
    """Would catch a rounding that is left out, or a number that half precision can't hold, where sizes are open."""
    torch._dynamo.reset()
    x = torch.randn(65, 48)
    torch.testing.assert_close(
        torch.compile(half, backend="dovetail", dynamic=True)(x),
        torch.compile(half, backend="dovetail", dynamic=False)(x),
        rtol=0,
        atol=0,
    )


def test_gradients_of_sizes_that_were_never_traced():
    """Would catch the same, and a gradient for the sizes of the trace."""

    def function(*given: torch.Tensor) -> list[torch.Tensor]:
        return [each(x) for each, x in zip((softmax, layer_norm, column_sums, activations), given, strict=True)]

    torch.manual_seed(0)
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    compiled = torch.compile(function, backend="dovetail", dynamic=True)
    for rows, columns in SIZES:
        given = [torch.randn(rows, columns) for _ in range(4)]
        ours, theirs = ([x.clone().requires_grad_() for x in given] for _ in range(2))
        exact = [x.double().requires_grad_() for x in given]
        results = compiled(*ours), function(*theirs), function(*exact)
        weights = [torch.randn_like(result) for result in results[1]]
        for each in results:
            torch.autograd.backward(
                each, [weight.to(result.dtype) for weight, result in zip(weights, each, strict=True)]
            )
        for mine, eager, right in zip(*results, strict=True):
            assert mine.stride() == eager.stride()
            assert_as_near(mine.detach(), eager.detach(), right.detach())
        for mine, eager, right in zip(ours, theirs, exact, strict=True):
            assert_as_near(mine.grad, eager.grad, right.grad)
    assert_one_program_with_plans()


def test_sums_of_float64_that_end_as_float32():
    """Catches a variance of open sizes by ATen, and a sum that the user sees in float64 by a region."""
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    compiled = torch.compile(lambda x, y: (x.var((0, 1)), y.double().sum((0, 1))), backend="dovetail", dynamic=True)
    for rows in (30, 7):
        x, y = (torch.randn(rows, rows + 3, 16) for _ in range(2))
        assert_as_near(compiled(x, y)[0], x.var((0, 1)), x.double().var((0, 1)))
    ((name, _),) = dovetail.stats().library_calls.elements()
    assert "sum" in name
