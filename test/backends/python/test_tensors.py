"""How the host lays out operands: it copies only what lies otherwise, and into any strides that eager may give."""

import pytest
import torch

from dovetail.backends.python.tensors import laid_out

CASES = {
    "transposed": ((3, 4), (1, 3)),
    "expanded": ((3, 4), (0, 1)),
    "expanded to one number": ((3, 4), (0, 0)),
    "windows": ((3, 4), (1, 1)),
    "apart": ((3, 4), (8, 2)),
    "interleaved": ((2, 2), (2, 3)),
    "a number": ((), ()),
}


@pytest.mark.parametrize("case", CASES)
def test_any_strides(case: str):
    """Catches other elements, or an error, where several of them lie in one place."""
    size, strides = CASES[case]
    reach = sum((each - 1) * stride for each, stride in zip(size, strides, strict=True)) + 1
    tensor = torch.arange(float(reach)).as_strided(size, strides).contiguous()
    made = laid_out(tensor, strides)
    assert made.stride() == strides
    assert torch.equal(made, tensor)


def test_copies_only_what_lies_otherwise():
    """Catches a copy for the stride of a dimension of size 1, or of an empty tensor, which mean nothing."""
    rows = torch.rand(4, 1, 3)
    assert laid_out(rows, (3, 3, 1)) is rows
    made = laid_out(rows, (3, 7, 1))
    assert made.stride() == (3, 7, 1)
    assert made.data_ptr() == rows.data_ptr()
    assert laid_out(torch.rand(0, 3), (1, 5)).stride() == (1, 5)


def test_gradients():
    """Catches a copy that autograd does not follow: a replayed gradient runs through it."""
    tensor = torch.rand(3, 4, requires_grad=True)
    for strides in ((1, 3), (4, 1)):
        (gradient,) = torch.autograd.grad(laid_out(tensor * 2, strides).sum(), tensor)
        assert torch.equal(gradient, torch.full((3, 4), 2.0))
