"""PyTorch's numbers of element types."""

import pytest
import torch

from dovetail.dialects.torch_facts.scalar_types import SCALAR_TYPES
from dovetail.dialects.torch_facts.types import DTYPE_NAMES

# In TorchScript, an element type is its number.
MADE = torch.jit.CompilationUnit("def empty(number: int):\n    return torch.empty([1], dtype=number)\n")


@pytest.mark.parametrize("dtype", sorted(DTYPE_NAMES))
def test_numbers_are_pytorchs(dtype: str):
    """Would catch an element type of the IR that can't be filled, and a tensor that is filled as another type."""
    assert MADE.empty(SCALAR_TYPES.index(dtype)).dtype is getattr(torch, dtype)
