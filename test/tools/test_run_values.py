"""Values as `dovetail-run` prints and reads them."""

import math

import pytest
import torch

from dovetail.errors import InputError
from dovetail.tools.run.values import parse_value, value_text


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor([[1.5, -0.0], [float("inf"), float("nan")]]),
        torch.tensor(0.1),
        torch.tensor([0.1, 1e-30], dtype=torch.float64),
        torch.tensor([1.25, 3.0], dtype=torch.bfloat16),
        torch.tensor([True, False]),
        torch.tensor([-(2**63), 2**63 - 1]),
        torch.tensor([0, 255], dtype=torch.uint8),
        torch.tensor([1 + 2j, -0.5j]),
    ],
)
def test_printed_value_is_read_back(tensor: torch.Tensor):
    """Would catch digits, types or special values that get lost between `dovetail-run`'s output and its input."""
    read = parse_value(value_text(tensor))
    assert isinstance(read, torch.Tensor)
    torch.testing.assert_close(read, tensor, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("2xui8=1,256", "ui8 does not have the value 256"),
        ("ui8=-1", "ui8 does not have the value -1"),
        ("2xi1=7,0", "i1 does not have the value 7"),
        ("2xi64=9223372036854775808", "i64 does not have the value 9223372036854775808"),
        ("f32=1e50", "f32 does not have the value 1e+50"),
        ("f16=65520", "f16 does not have the value 65520"),
        (f"f64={10**309}", f"f64 does not have the value {10**309}"),
        ("complex<f32>=1+1e50j", "complex<f32> does not have the value (1+1e+50j)"),
        ("f64=1e400", "no element type has the value 1e400"),
    ],
)
def test_value_that_does_not_fit_its_type_is_refused(given: str, message: str):
    """Would catch numbers that wrap around, become infinite or true, or end in a traceback of PyTorch's."""
    with pytest.raises(InputError) as caught:
        parse_value(given)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        ("2xi64=-9223372036854775808,9223372036854775807", [-(2**63), 2**63 - 1]),
        ("2xf16=65504,65519", [65504.0, 65504.0]),
        ("2xf32=inf,-inf", [math.inf, -math.inf]),
        (f"1xf64={10**20}", [1e20]),
        ("2xi1=true,0", [True, False]),
    ],
)
def test_values_at_the_bounds_of_their_type_are_read(given: str, numbers: list):
    """Would catch a refusal of the largest number, of one that is rounded down to it, or of an infinity."""
    read = parse_value(given)
    assert isinstance(read, torch.Tensor)
    assert read.tolist() == numbers
