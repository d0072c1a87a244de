"""What is drawn takes no more memory than a small machine has."""

import resource

import pytest
import torch

from dovetail.tools.fuzz.computations.memory_bound import bounded_memory


def test_what_would_need_too_much_is_refused() -> None:
    """Catches lines of 500 GB that a large machine promises memory for: it killed the process of dynamic seed 7260."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises(RuntimeError, match="allocate memory"), bounded_memory():
        torch.empty(5 << 30, dtype=torch.int8)
    with bounded_memory():
        assert torch.ones(1 << 20).sum() == 1 << 20
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
