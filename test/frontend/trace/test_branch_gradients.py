"""Branches of control flow are differentiated whatever else they give."""

import pytest
import torch

import dovetail

pytestmark = pytest.mark.usefixtures("op_by_op")


def wave_and_signs(x):
    return x.sin(), x > 0


def wave_and_places(x):
    return x.cos(), x.argsort(stable=True) > 1


def spectrum(x):
    return torch.fft.fft(x), x * 2, x.int()


BRANCHES = {
    "truth values": (wave_and_signs, wave_and_places),
    "truth values alone": (lambda x: (x > 0,), lambda x: (x < 0,)),
    "complex numbers": (spectrum, lambda x: (torch.fft.fft(x * 2), x * 3, x.int())),
}


@pytest.mark.parametrize("branches", BRANCHES.values(), ids=BRANCHES)
@pytest.mark.parametrize("sign", [1, -1])
def test_what_has_no_gradient_stands_beside_what_has(branches, sign):
    """Would catch a graph that runs eagerly, since PyTorch wants a tangent of truth values, and so has no gradient."""

    @torch.compile(backend="dovetail")
    def function(x):
        return torch.cond(x.sum() > 0, *branches, (x,)), x * 3

    reasons = dovetail.stats().eager
    torch._dynamo.reset()
    found = []
    for call in (lambda x: (branches[sign < 0](x), x * 3), function):
        x = (sign * torch.linspace(0.25, 1.5, 6)).requires_grad_()
        picked, product = call(x)
        given = [*picked, product]
        torch.stack([(y * torch.linspace(1.0, 2.0, 6)).abs().sum() for y in given if y.requires_grad]).sum().backward()
        found.append(([y.detach() for y in given], [y.requires_grad for y in given], x.grad))
    assert not dovetail.stats().eager - reasons
    torch.testing.assert_close(found[1], found[0])
