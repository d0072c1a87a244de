"""Nodes that have no place in the IR."""

import pytest
import torch

import dovetail
from dovetail.errors import EagerWarning


def test_complex_numbers_as_scalars():
    """The torch dialect has no complex numbers: the graph ran eagerly as a defect that named torch-mlir."""
    x = torch.tensor([1 + 2j, -3j])
    dovetail.stats(reset=True)
    with pytest.warns(EagerWarning, match=r"test_node_importer.py:\d+: a complex number is not supported"):
        result = torch.compile(lambda x: torch.where(x.real > 0, x, 2j) * 1j, backend="dovetail")(x)
    torch.testing.assert_close(result, torch.tensor([-2 + 1j, -2]), rtol=0, atol=0)
    assert sum(dovetail.stats().eager.values()) == 1


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_numbers_keep_their_bits_beside_doubles(dtype):
    """`0.1 - x` was off by 1.5e-9 in float64: the number was imported as a float32 tensor."""
    x = torch.linspace(-1, 1, 64, dtype=torch.float64).to(dtype)
    result = torch.compile(lambda x: 0.1 - x, backend="dovetail")(x)
    torch.testing.assert_close(result, 0.1 - x, rtol=0, atol=0)
