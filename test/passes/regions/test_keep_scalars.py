"""Numbers that half precision can't hold: compiled regions against eager, to the last bit where eager rounds once."""

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional

SIZE = 4096  # enough for a region; a multiple of eager's vectors, whose remainder rounds otherwise
TOO_LARGE, TINY, SUBNORMAL, INEXACT = 524287, 1e-9, 3e-6, -1 / 3
NUMBERS = (TOO_LARGE, TINY, SUBNORMAL, INEXACT, 2049)

OF_A_NUMBER: dict[str, Callable] = {
    "mul": lambda x, y, s: x * s,
    "div": lambda x, y, s: x / s,
    "mul of a scalar tensor": lambda x, y, s: x * torch.full((), s, dtype=torch.float32),
    "div by a scalar tensor": lambda x, y, s: x / torch.full((), s, dtype=torch.float64),
    "scalar tensor mul": lambda x, y, s: torch.full((), s, dtype=torch.float32) * x,
    "both orders": lambda x, y, s: x * y.float().sum() + y.float().sum() * x * s,
    "add": lambda x, y, s: x + s,
    "rsub": lambda x, y, s: s - x,
    "reciprocal": lambda x, y, s: s / x,
    "alpha": lambda x, y, s: torch.add(x, y, alpha=min(s, 2049)),
    "alpha of a difference": lambda x, y, s: torch.sub(x, y, alpha=min(s, 2049)),
    "leaky_relu": lambda x, y, s: functional.leaky_relu(x, s),
    "softshrink": lambda x, y, s: functional.softshrink(x, abs(min(s, 2049))),
    "lt": lambda x, y, s: x < s,
    "ge": lambda x, y, s: x >= s,
    "chain": lambda x, y, s: x * s / s,
}


def compiled_alike(functions: dict[str, Callable], *arguments: torch.Tensor) -> list[str]:
    """The names of the functions whose results, compiled in one graph, are not eager's to the last bit."""
    torch._dynamo.reset()
    together = torch.compile(
        lambda *given: [function(*given) for function in functions.values()],
        backend="dovetail",
        fullgraph=True,
        options={"strict": True},
    )
    results = together(*arguments)
    wanted = [function(*arguments) for function in functions.values()]
    pairs = zip(functions, results, wanted, strict=True)
    return [name for name, got, want in pairs if not torch.equal(_bits(got), _bits(want))]


def _bits(value: torch.Tensor) -> torch.Tensor:
    """Its numbers as bits, of which any NaN has the same."""
    if not value.is_floating_point():
        return value
    return value.masked_fill(value.isnan(), torch.nan).view({2: torch.int16, 4: torch.int32}[value.itemsize])


@pytest.mark.parametrize(
    ("dtype", "numbers"),
    [(torch.float16, NUMBERS), pytest.param(torch.bfloat16, (TOO_LARGE, INEXACT), marks=pytest.mark.slow)],
    ids=str,
)
def test_numbers_that_halves_can_not_hold(dtype, numbers):
    """`x / 524287` was 0 in float16, and `x * 1e-5 * 1e5` infinite: the region rounded the number first."""
    generator = torch.Generator().manual_seed(3)
    x, y = (torch.randn(SIZE, generator=generator).to(dtype) for _ in range(2))
    functions = {
        f"{name} {number}": (lambda a, b, f=function, s=number: f(a, b, s))
        for name, function in OF_A_NUMBER.items()
        for number in numbers
    }
    assert compiled_alike(functions, x, y) == []
