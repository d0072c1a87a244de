"""The check of tensors that a graph holds itself: what it must notice, and what is no reason to compile anew."""

import pytest
import torch

from dovetail.errors import AliasMismatch
from dovetail.held_tensors import HeldTensors


@pytest.mark.parametrize(
    "other",
    [torch.ones(8), torch.ones(2, 4).t(), torch.ones(4, 2, dtype=torch.float64)],
    ids=["sizes", "strides", "type"],
)
def test_other_data_is_noticed(other):
    """A program for other memory would read and write beyond what the tensor has now."""
    held = torch.ones(4, 2)
    tensors = HeldTensors([torch.ones(3), held])
    tensors.check()
    held.data = other
    with pytest.raises(AliasMismatch, match="another size, layout, type or device"):
        tensors.check()


def test_what_changes_no_layout_is_none():
    """PyTorch's guards, which are asked first, deny what programs don't depend on: each would be compiled again."""
    held = torch.ones(4, 2)
    tensors = HeldTensors([held])
    held.requires_grad_()
    tensors.check()
    held.data = torch.zeros(4, 2)
    with torch.inference_mode(), torch.autocast("cpu"):
        tensors.check()
