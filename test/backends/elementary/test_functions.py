"""Our own elementary functions, in regions, against double precision on numbers of every size."""

import math
from collections.abc import Callable

import pytest
import torch

STEP = 4099  # of the bits of float32 numbers, of which there are 2**32
EDGES = (0.5, 1.0, 4.0, 9.5, 18.0, 87.0, 87.336, 88.37, 88.7228, 103.97, 2.0**-13, 2.0**-25, 2.0**-126)
EDGES += (math.pi / 4, math.pi / 2, math.pi, 2.0**51, 2.0**77, 2.0**103)
EDGES += (16367173.0 * 2.0**72, 10741887.0 * 2.0**11, 16573937.0 * 2.0**-16)  # the nearest to multiples of pi / 2
UNITS = 1.25
"""In the last place of the result: 1.11 with fused multiply-adds, 1.25 without. Eager's are up to 1."""
FUNCTIONS = (
    *(torch.asin, torch.cos, torch.erf, torch.exp, torch.expm1, torch.log, torch.log1p, torch.log2),
    *(torch.sin, torch.tan, torch.tanh),
)


def numbers() -> torch.Tensor:
    """float32: each STEP-th in the order of their bits, and the neighbours of where the code changes its ways."""
    near = torch.arange(-500, 501, dtype=torch.int32)
    edges = [torch.tensor(edge).view(torch.int32) + near for edge in EDGES]
    edges += [each | torch.tensor(-(1 << 31), dtype=torch.int32) for each in edges]
    spread = torch.arange(-(1 << 31), 1 << 31, STEP).to(torch.int32)
    special = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1.0, -1.0]).view(torch.int32)
    return torch.cat([spread, *edges, special]).view(torch.float32)


def units(result: torch.Tensor, precise: torch.Tensor) -> torch.Tensor:
    """The distances of float32 numbers from float64 ones, in units of the last place that float32 has there."""
    _, exponent = torch.frexp(precise.abs().clamp(min=2.0**-126))
    return (result.double() - precise).abs() / torch.ldexp(torch.ones_like(precise), exponent - 24)


@pytest.fixture(scope="module")
def results() -> dict[Callable, torch.Tensor]:
    """What one compiled program gives for all `numbers`, by function."""

    def run(values: torch.Tensor) -> dict[str, torch.Tensor]:
        return {function.__name__: function(values) for function in FUNCTIONS}

    compiled = torch.compile(run, backend="dovetail", options={"strict": True})(numbers())
    return {function: compiled[function.__name__] for function in FUNCTIONS}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_size_of_number(function: Callable, results: dict[Callable, torch.Tensor]):
    """The code generator's own polynomials are off by up to 6 units, and its exponential knows no subnormal number."""
    result = results[function]
    precise = function(numbers().double())
    expected = precise.float()
    is_finite = expected.isfinite()
    assert torch.equal(result.isnan(), expected.isnan())
    assert torch.equal(result[expected.isinf()], expected[expected.isinf()])
    assert torch.equal(result[expected == 0].signbit(), expected[expected == 0].signbit())
    assert units(result[is_finite], precise[is_finite]).max() <= UNITS


@pytest.mark.parametrize(
    "dtypes",
    [
        (torch.bfloat16,),
        pytest.param((torch.float16, torch.int32, torch.bool), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_other_element_types(dtypes: tuple[torch.dtype, ...]):
    """Half precision must round once, from float32; whole numbers and truth values are converted, not taken as bits."""
    inputs = [torch.arange(-20, 21).to(dtype) for dtype in dtypes]

    def run(*inputs: torch.Tensor) -> list[torch.Tensor]:
        return [function(values) for values in inputs for function in (torch.erf, torch.tanh, torch.expm1, torch.sin)]

    compiled = torch.compile(run, backend="dovetail", options={"strict": True})(*inputs)
    exact = run(*(values.double() for values in inputs))
    for result, eager, precise in zip(compiled, run(*inputs), exact, strict=True):
        assert result.dtype == eager.dtype
        torch.testing.assert_close(result, precise.to(result.dtype))
