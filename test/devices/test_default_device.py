"""Programs on a GPU while tensors are made on the CPU by default, as users mostly leave it."""

from collections.abc import Callable, Iterator

import pytest
import torch
from differential import assert_same


@pytest.fixture(autouse=True)
def on_the_cpu_by_default() -> Iterator[None]:
    before = torch.get_default_device()
    torch.set_default_device("cpu")
    yield
    torch.set_default_device(before)


def on_gpu(*shape: int, grad: bool = True) -> torch.Tensor:
    return torch.randn(shape, device="cuda").requires_grad_(grad)


def two_results(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return (x.exp() @ w).sin() * y, y + x.t().t()


def both_backwards(fn: Callable) -> list[torch.Tensor | None]:
    torch.manual_seed(0)
    given = [on_gpu(4, 4) for _ in range(3)]
    first, second = fn(*given)
    first.sum().backward()
    second.sum().backward()
    return [each.grad for each in given]


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_second_backward_from_another_result(dynamic: bool) -> None:
    """Catches zeros on the CPU in place of freed values of the GPU's: an op of the backward raised."""
    compiled = torch.compile(two_results, backend="dovetail", dynamic=dynamic)
    torch.testing.assert_close(both_backwards(compiled), both_backwards(two_results))


@pytest.mark.parametrize(
    "fn",
    [
        pytest.param(lambda x, y: (x.exp() * y).softmax(-1).sum(0), id="sums"),
        pytest.param(lambda x, y: x.mul_(2) @ y.t() + torch.ones(4, device=x.device), id="update"),
        pytest.param(lambda x, y: torch.cat([x, y])[torch.tensor([0, 5, 3], device=x.device)], id="constant"),
        pytest.param(lambda x, y: x * torch.zeros(()) + y.new_full((4, 1), 3.0), id="number"),
        pytest.param(lambda x, y: torch.nn.functional.dropout(x, 0.5) * y, id="drawn"),
        pytest.param(lambda x, y: (x * 2, torch.tensor([1.0, 2.0]) + 1, y.cpu().sin()), id="host"),
    ],
)
def test_programs(fn: Callable) -> None:
    """Catches memory, zeros or constants of a program that lie where the default device says."""
    assert_same(fn, on_gpu(4, 4, grad=False), on_gpu(4, 4))
