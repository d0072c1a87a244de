"""Transposed operands and results of regions, of large tensors, against eager."""

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
TYPES = {torch.float32: tuple(SHAPES), **dict.fromkeys((torch.bfloat16, torch.uint8, torch.bool), SOME)}


def numbers(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return (torch.randn(shape) * 40).to(dtype)


@pytest.mark.parametrize(
    ("dtype", "names"),
    [pytest.param(*each, marks=[] if each[0] is torch.float32 else [pytest.mark.slow]) for each in TYPES.items()],
    ids=str,
)
def test_what_is_transposed_is_eagers(dtype: torch.dtype, names: tuple[str, ...]):
    """Catches blocks at the edges, of other types, and of other dimensions, that are left out or read twice."""
    torch.manual_seed(0)
    orders = [SHAPES[name][1] for name in names]
    pairs = [(numbers(SHAPES[name][0], dtype), order) for name, order in zip(names, orders, strict=True)]
    others = [numbers(tuple(x.permute(order).shape), dtype) for x, order in pairs]

    def run(*tensors: torch.Tensor) -> list[torch.Tensor]:
        results = []
        for x, y, order in zip(tensors[::2], tensors[1::2], orders, strict=True):
            turned = x.permute(order)
            results += [turned.eq(y), torch.maximum(turned, y), torch.maximum(y, turned), turned.amax(-1)]
        return results

    tensors = [each for (x, _), y in zip(pairs, others, strict=True) for each in (x, y)]
    for result, eager in zip(torch.compile(run, backend="dovetail")(*tensors), run(*tensors), strict=True):
        assert torch.equal(result, eager)
        assert result.stride() == eager.stride()


def test_an_argument_that_lies_transposed():
    """Catches strides of an argument that are taken for rows, and results that are written across them."""
    x, y = torch.randn(300, 400), torch.randn(400, 300)

    def run(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.t() * y, torch.exp(x) - y.t(), (x + 1).sum(0)

    compiled = torch.compile(run, backend="dovetail", options={"strict": True})
    for a, b in ((x, y), (y.t(), x.t()), (x, x.t()), (y.t(), y)):
        for result, eager in zip(compiled(a, b), run(a, b), strict=True):
            torch.testing.assert_close(result, eager)
            assert result.stride() == eager.stride()
