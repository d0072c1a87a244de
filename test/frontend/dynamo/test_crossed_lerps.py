"""`_foreach_lerp_` whose lists share memory, beside eager, which reads what it has written of it."""

from collections.abc import Callable

import pytest
import torch

from dovetail.errors import EagerWarning

pytestmark = [pytest.mark.usefixtures("op_by_op"), pytest.mark.host]

LISTS: dict[str, Callable] = {
    "crossed": lambda a, b, c: ([a, b], [b, a]),
    "of slices": lambda a, b, c: ([a[:1], b], [b[1:], a[:1]]),
    "written twice": lambda a, b, c: ([a, a], [b, c]),
}


def _tensors() -> list[torch.Tensor]:
    return [torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0]), torch.tensor([5.0, 9.0])]


@pytest.mark.parametrize("weight", [0.25, 0.75])
@pytest.mark.parametrize("lists", LISTS)
def test_lists_that_share_memory(lists: str, weight: float):
    """Catches numbers of what the tensors held before the op: Dynamo makes ops of it that read all, then write."""
    expected, actual = _tensors(), _tensors()

    def move(a, b, c):
        torch._foreach_lerp_(*LISTS[lists](a, b, c), weight)

    move(*expected)
    with pytest.warns(EagerWarning, match="reads memory that it has written|reads a part of|writes the same memory"):
        torch.compile(move, backend="dovetail", fullgraph=True)(*actual)
    torch.testing.assert_close(actual, expected, rtol=0, atol=0)


@pytest.mark.filterwarnings("error")
def test_lists_apart_are_compiled():
    """Catches a step of an optimizer that runs eagerly, since its lists were taken for ones that share memory."""
    expected, actual = _tensors(), _tensors()

    def move(a, b, c):
        torch._foreach_lerp_([a, b], (c, c), 0.75)

    move(*expected)
    torch.compile(move, backend="dovetail", fullgraph=True)(*actual)
    torch.testing.assert_close(actual, expected)


def test_lists_that_share_memory_in_a_later_call():
    """Catches docs/limits.md when it says too much: Dynamo's graph of a call whose lists were apart knows no lerp.

    Its ops read all before they write, so that what is crossed later gets numbers of what was there before.
    """
    compiled = torch.compile(lambda a, b, c, d: torch._foreach_lerp_([a, b], [c, d], 0.75), backend="dovetail")
    compiled(*(torch.ones(2) for _ in range(4)))
    base = torch.arange(4.0)
    compiled(base[:2], base[2:], base[2:], base[:2])
    assert base.tolist() == [1.5, 2.5, 2.5, 3.5]  # in eager [1.5, 2.5, 1.625, 2.625]
