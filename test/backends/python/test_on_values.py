"""PyTorch's own bindings, which generated Python calls in place of operators."""

from typing import Any

import pytest
import torch

from dovetail.backends.python.on_values import BINDINGS

aten = torch.ops.aten


def matrix(rows: int, columns: int) -> torch.Tensor:
    return torch.arange(float(rows * columns)).view(rows, columns)


# Positional arguments and those by name, as the emitter writes them.
CALLS: dict[Any, tuple[tuple, dict]] = {
    aten.addmm.default: ((torch.ones(4), matrix(2, 3), matrix(3, 4)), {"beta": 0.5, "alpha": 2}),
    aten.baddbmm.default: ((torch.ones(1, 2, 4), matrix(2, 3)[None], matrix(3, 4)[None]), {"beta": 0.5, "alpha": 2}),
    aten.bmm.default: ((matrix(2, 3)[None], matrix(3, 4)[None]), {}),
    aten.cat.default: (([matrix(2, 3), matrix(2, 4)], -1), {}),
    aten.embedding.default: ((matrix(4, 3), torch.tensor([[1, 3], [0, 1]]), 1, True, False), {}),
    aten.expand.default: ((matrix(1, 3), [2, -1]), {}),
    aten.gather.default: ((matrix(2, 3), 1, torch.tensor([[0], [2]])), {}),
    aten.mm.default: ((matrix(2, 3), matrix(3, 4)), {}),
    aten.permute.default: ((matrix(2, 3)[None], [2, 0, 1]), {}),
    aten.reshape.default: ((matrix(2, 6), [3, -1]), {}),
    aten.select.int: ((matrix(2, 3), 1, 2), {}),
    aten.split_with_sizes.default: ((matrix(2, 3), [1, 2], 1), {}),
    aten.squeeze.dim: ((matrix(1, 3), 0), {}),
    aten.t.default: ((matrix(2, 3),), {}),
    aten.transpose.int: ((matrix(2, 3), 0, 1), {}),
    aten.unsqueeze.default: ((matrix(2, 3), 1), {}),
}


@pytest.mark.parametrize("target", BINDINGS, ids=str)
def test_a_binding_is_its_operator(target: torch._ops.OpOverload):
    """Would catch a binding that takes its arguments in another order, or computes where the operator makes a view."""
    arguments, named = CALLS[target]
    expected, got = target(*arguments, **named), BINDINGS[target](*arguments, **named)
    for want, made in zip(expected, got, strict=True) if isinstance(expected, list) else [(expected, got)]:
        assert torch.equal(want, made)
        assert made.stride() == want.stride()
        assert made.storage_offset() == want.storage_offset()
        assert (made._base is None) == (want._base is None)
