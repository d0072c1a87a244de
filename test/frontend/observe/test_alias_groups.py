"""Whether two tensors of one storage have elements in common."""

import random

import torch

from dovetail.frontend.observe.alias_groups import share_elements


def test_tensors_that_are_apart():
    """Interleaved tensors are taken for apart where they meet: what is read is what was just written."""
    draw, storage = random.Random(0), torch.arange(100)
    for _ in range(2000):
        strides = [draw.randint(0, 7) for _ in range(draw.randint(0, 3))]
        left, right = (
            storage.as_strided([draw.randint(1, 4) for _ in strides], strides, draw.randint(0, 15)) for _ in range(2)
        )
        assert share_elements(left, right) == bool(set(left.flatten().tolist()) & set(right.flatten().tolist()))
