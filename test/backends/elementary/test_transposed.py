"""Transposed operands and results of regions, of large tensors, against eager."""

from itertools import product

import pytest
import torch

# Those that test_blocks.py does not have, and two that it has.
SHAPES = {
    "a square": ((256, 256), (1, 0)),
    "primes": ((257, 331), (1, 0)),
    "few rows": ((16, 4099), (1, 0)),
    "too few rows for a block": ((3, 30011), (1, 0)),
    "a batch": ((5, 130, 201), (0, 2, 1)),
    "all reversed": ((33, 40, 51), (2, 1, 0)),
}
SOME = ("primes", "all reversed")


def numbers(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return (torch.randn(shape) * 40).to(dtype)


@pytest.mark.parametrize(
    ("dtypes", "names"),
    [
        ((torch.float32,), tuple(SHAPES)),
        pytest.param((torch.bfloat16, torch.uint8, torch.bool), SOME, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_what_is_transposed_is_eagers(dtypes: tuple[torch.dtype, ...], names: tuple[str, ...]):
    """Catches blocks at the edges, of other types, and of other dimensions, that are left out or read twice."""
    torch.manual_seed(0)
    orders, tensors = [], []
    for dtype, name in product(dtypes, names):
        shape, order = SHAPES[name]
        orders.append(order)
        tensors += [numbers(shape, dtype), numbers(tuple(shape[each] for each in order), dtype)]

    def run(*tensors: torch.Tensor) -> list[torch.Tensor]:
        results = []
        for x, y, order in zip(tensors[::2], tensors[1::2], orders, strict=True):
            turned = x.permute(order)
            results += [turned.eq(y), torch.maximum(turned, y), torch.maximum(y, turned), turned.amax(-1)]
        return results

    for result, eager in zip(torch.compile(run, backend="dovetail")(*tensors), run(*tensors), strict=True):
        assert torch.equal(result, eager)
        assert result.stride() == eager.stride()


def test_an_argument_that_lies_transposed():
    """Catches strides of an argument that are taken for rows, and results that are written across them."""
    x, y, u, v, a, b = (torch.randn(shape) for _ in range(3) for shape in ((300, 400), (400, 300)))
    tensors = (x, y, v.t(), u.t(), a, a.t(), b.t(), b)

    def run(*tensors: torch.Tensor) -> list[torch.Tensor]:
        pairs = zip(tensors[::2], tensors[1::2], strict=True)
        return [each for x, y in pairs for each in (x.t() * y, torch.exp(x) - y.t(), (x + 1).sum(0))]

    compiled = torch.compile(run, backend="dovetail", options={"strict": True})
    for result, eager in zip(compiled(*tensors), run(*tensors), strict=True):
        torch.testing.assert_close(result, eager)
        assert result.stride() == eager.stride()
