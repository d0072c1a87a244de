"""Whether two tensors of one storage have elements in common."""

import random

import pytest
import torch

from dovetail.frontend.observe.alias_groups import crossing, share_elements, shows_twice, span, storage


def test_tensors_that_are_apart():
    """Interleaved tensors are taken for apart where they meet: what is read is what was just written."""
    draw, memory = random.Random(0), torch.arange(100)
    for _ in range(2000):
        left, right = (_drawn(draw, [memory]) for _ in range(2))
        assert share_elements(left, right) == bool(set(left.flatten().tolist()) & set(right.flatten().tolist()))


def test_tensors_whose_spans_cross():
    """Catches a pair that meets and is not found, which lets a write race with what reads it; and pairs of none."""
    draw, storages = random.Random(0), [torch.arange(100), torch.arange(100)]
    for _ in range(200):
        left, right = ([_drawn(draw, storages) for _ in range(draw.randint(0, 8))] for _ in range(2))
        expected = [
            (one, other)
            for one, tensor in enumerate(left)
            for other, each in enumerate(right)
            if storage(tensor) == storage(each) and span(tensor)[0] < span(each)[1] and span(each)[0] < span(tensor)[1]
        ]
        assert sorted(crossing(left, right)) == expected


def _drawn(draw: random.Random, storages: list[torch.Tensor]) -> torch.Tensor:
    strides = [draw.randint(0, 7) for _ in range(draw.randint(0, 3))]
    sizes = [draw.randint(1, 4) for _ in strides]
    return draw.choice(storages).as_strided(sizes, strides, draw.randint(0, 15))


@pytest.mark.parametrize(
    ("size", "stride", "expected"),
    [
        ((3, 4), (2, 1), True),
        ((3, 4), (0, 1), True),
        ((2, 3), (3, 2), True),
        ((3, 4), (4, 1), False),
        ((3, 4), (1, 5), False),
        ((1, 4), (0, 1), False),
        ((3, 0), (0, 1), False),
        ((), (), False),
    ],
)
def test_elements_that_are_shown_twice(size, stride, expected: bool):
    """Catches windows that are written as if each element were one, and gaps that are taken for windows."""
    assert shows_twice(torch.zeros(20).as_strided(size, stride)) == expected
