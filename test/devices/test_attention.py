"""Attention on a GPU takes and gives tensors in layouts that regions write and read."""

from collections.abc import Iterator

import pytest
import torch
from torch.nn import functional

import dovetail

SIZE, LENGTH, HEADS, WIDTH = 4, 64, 8, 32


@pytest.fixture(autouse=True)
def kernels(request: pytest.FixtureRequest) -> Iterator[None]:
    """Those of a GPU, which an emulated one lacks."""
    if request.config.getoption("--device") != "emulated-cuda":
        yield
        return
    from gpu_attention import gpu_attention

    with gpu_attention():
        yield


def _heads(x: torch.Tensor, count: int) -> torch.Tensor:
    return x.view(SIZE, LENGTH, count, WIDTH).transpose(1, 2)


def _turned(x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    return (x * angles.cos() + torch.cat([-second, first], -1) * angles.sin()).to(x.dtype)


def _repeated(x: torch.Tensor) -> torch.Tensor:
    return x[:, :, None].expand(SIZE, HEADS // 2, 2, LENGTH, WIDTH).reshape(SIZE, HEADS, LENGTH, WIDTH)


def _grouped(x, for_queries, for_keys, for_values, angles, mask):
    """Llama's: turned queries and keys, and half as many keys and values."""
    query = _turned(_heads(x @ for_queries, HEADS), angles)
    key, value = _turned(_heads(x @ for_keys, HEADS // 2), angles), _heads(x @ for_values, HEADS // 2)
    found = functional.scaled_dot_product_attention(query, _repeated(key), _repeated(value), mask)
    return found.transpose(1, 2).reshape(SIZE, LENGTH, HEADS * WIDTH)


def _packed(x, for_queries, for_keys, for_values, angles, mask):
    """GPT-2's: parts of one product."""
    joined = x @ torch.cat([for_queries] * 3, 1)
    query, key, value = (_heads(part, HEADS) for part in joined.split(HEADS * WIDTH, -1))
    found = functional.scaled_dot_product_attention(query, key, value, mask)
    return found.transpose(1, 2).reshape(SIZE, LENGTH, HEADS * WIDTH) + (for_keys.sum() + for_values.sum())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("attend", [_grouped, _packed])
def test_nothing_is_copied(attend, dtype):
    """Catches queries, repeated heads and gradients that are copied at the call, and gradients in another order."""
    torch.manual_seed(0)
    all_of, half = HEADS * WIDTH, HEADS * WIDTH // 2
    given = [
        torch.randn(*sizes, dtype=dtype) / 4 for sizes in ((SIZE, LENGTH, 64), (64, all_of), (64, half), (64, half))
    ]
    angles = torch.randn(LENGTH, WIDTH)
    mask = torch.zeros(SIZE, 1, LENGTH, LENGTH, dtype=dtype).masked_fill(torch.ones(LENGTH, LENGTH).triu(1) > 0, -1e4)
    mask = mask.expand(SIZE, HEADS, LENGTH, LENGTH)
    dovetail.stats(reset=True)
    found = []
    for function in (attend, torch.compile(attend, backend="dovetail", fullgraph=True)):
        leaves = [each.clone().requires_grad_() for each in given]
        result = function(*leaves, angles, mask)
        result.float().square().sum().backward()
        found.append([result.detach(), *(leaf.grad for leaf in leaves)])
    tolerance = {"rtol": 3e-2, "atol": 3e-1} if dtype is torch.bfloat16 else {"rtol": 1e-4, "atol": 1e-3}
    for eager, ours in zip(*found, strict=True):
        torch.testing.assert_close(ours, eager, **tolerance)
        assert ours.stride() == eager.stride()
    assert not dovetail.stats().eager
    # Gradients of operands that share one memory PyTorch's kernels put into one, too: of those some are copied.
    copies = dovetail.stats().copies
    assert not copies if attend is _grouped else sum(copies.values()) <= 1
