"""The strides of views are PyTorch's, and a reshape is known to copy exactly where PyTorch's does."""

import random

import torch

from dovetail.dialects.torch_facts.strides import reshaped


def factors(count: int, generator: random.Random) -> list[int]:
    """Sizes, ones among them, of `count` elements."""
    sizes = [1] * generator.randrange(3)
    while count > 1:
        sizes.append(generator.choice([size for size in range(2, count + 1) if count % size == 0]))
        count //= sizes[-1]
    generator.shuffle(sizes)
    return sizes


def test_reshapes():
    """Catches a copy taken for a view, whose source would be counted as held, and a view for a copy."""
    generator, views, copies = random.Random(0), 0, 0
    for _ in range(2000):
        given = torch.empty(factors(generator.choice([1, 4, 12, 36]), generator))
        given = given.permute(generator.sample(range(given.dim()), given.dim()))
        given = given[tuple(slice(None, None, generator.choice([1, 1, 1, 2])) for _ in given.shape)]
        new = factors(given.numel(), generator)
        found = reshaped(tuple(given.shape), given.stride(), tuple(new))
        try:
            expected = given.view(new).stride()
        except RuntimeError:
            copies += 1
            assert found is None, f"{given.shape} {given.stride()} as {new}"
            continue
        views += 1
        assert found is not None, f"{given.shape} {given.stride()} as {new}"
        assert all(size == 1 or ours == theirs for size, ours, theirs in zip(new, found, expected, strict=True))
    assert views > 500
    assert copies > 200


def test_empty():
    """Catches a division by the size 0."""
    assert reshaped((0, 4), (4, 1), (2, 0)) is not None
