"""Arguments and tangents that lie in columns, beside eager."""

import pytest
import torch

import dovetail


@pytest.mark.parametrize("dynamic", [False, True])
def test_regions_transpose_what_lies_in_columns(dynamic):
    """Catches a region that is given a copy of what lies in columns, and a gradient of other numbers."""

    def compute(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.t() + y

    tensors = [torch.linspace(-3, 5, 300 * 272).view(300, 272), torch.linspace(-1, 1, 300 * 272).view(300, 272).t()]
    compiled = torch.compile(compute, backend="dovetail", dynamic=dynamic)
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    outcomes = []
    for function in (compute, compiled):
        given = [tensor.detach().requires_grad_() for tensor in tensors]
        result = function(*given)
        tangent = torch.linspace(0, 7, result.numel()).as_strided(result.size(), result.stride())
        outcomes.append([result, *torch.autograd.grad(result, given, tangent)])
    for expected, found in zip(*outcomes, strict=True):
        assert torch.equal(expected, found)
    assert not dovetail.stats().copies
