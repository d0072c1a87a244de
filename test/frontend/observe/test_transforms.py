"""`torch.func` transforms, autocast and changes of grad mode inside of a compiled function."""

import pytest
import torch
from differential import assert_same
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

pytestmark = pytest.mark.usefixtures("op_by_op")


def leaf(*shape: int) -> torch.Tensor:
    return torch.rand(shape).requires_grad_()


TRANSFORMS = {
    "vmap": lambda x, w: vmap(lambda row: (w @ row).sin())(x),
    "vmap of columns": lambda x, w: vmap(lambda row: row.exp() * 2, in_dims=1, out_dims=1)(x) @ w,
    "grad": lambda x, w: grad(lambda x: (x @ w).sin().sum())(x) * 2,
    "grad and value": lambda x, w: torch.func.grad_and_value(lambda x: (x @ w).tanh().sum())(x),
    "gradient of each sample": lambda x, w: vmap(grad(lambda w, row: (w @ row).tanh().sum()), in_dims=(None, 0))(w, x),
    "vjp": lambda x, w: vjp(lambda x: x @ w, x)[1](x)[0],
    "jvp": lambda x, w: jvp(lambda x: (x @ w).exp(), (x,), (x * 2,)),
    "jacrev": lambda x, w: jacrev(lambda row: (w @ row).sin())(x[0]),
    "jacfwd": lambda x, w: jacfwd(lambda row: (w @ row).sin())(x[0]),
    "hessian": lambda x, w: hessian(lambda row: (w @ row).sin().sum())(x[0]),
}


@pytest.mark.parametrize(("name", "train"), [*((name, True) for name in TRANSFORMS), ("vmap", False), ("jvp", False)])
def test_transform(name, train):
    """Catches a transform that is dropped or applied twice, and the gradient through it."""
    arguments = leaf(3, 3), leaf(3, 3)
    assert_same(TRANSFORMS[name], *arguments if train else [argument.detach() for argument in arguments], train=train)


@pytest.mark.parametrize("randomness", ["different", "same"])
def test_random_numbers_below_vmap(randomness):
    """Catches numbers that are drawn for each row where all should get the same, and the other way round."""

    def fn(x):
        return vmap(lambda row: torch.nn.functional.dropout(row, 0.5), randomness=randomness)(x)

    assert_same(fn, leaf(4, 5))


def test_functional_call():
    """Catches a module's own parameters in place of those given."""
    module = torch.nn.Linear(3, 2)

    def fn(x, weight, bias):
        return functional_call(module, {"weight": weight, "bias": bias}, (x,)).sin()

    assert_same(fn, leaf(4, 3), leaf(2, 3), leaf(2))


def test_gradient_inside():
    """Catches a write to an argument before or after the inner gradient that the other sees."""

    def fn(x, y):
        y.mul_(2)
        g = grad(lambda x: (x * y).exp().sum())(x)
        y.add_(1)
        return g + y

    assert_same(fn, torch.rand(3), torch.rand(3))


def test_autocast_region():
    """Catches a region whose type leaks to the ops after it, and a gradient in the wrong type."""

    def fn(x, w):
        y = x @ w
        with torch.autocast("cpu", torch.bfloat16):
            z = (y @ w).relu()
            with torch.autocast("cpu", enabled=False):
                u = z.float() @ w
        return z, u, u @ w

    # Whole numbers, which both types hold: rounding in another order is nobody's bug.
    x, w = (torch.randint(-2, 3, (3, 3)).float().requires_grad_() for _ in range(2))
    assert_same(fn, x, w, calls=1)


def test_no_grad_region():
    """Catches a history for what was computed without, and none for what came after."""

    def fn(x, w):
        with torch.no_grad():
            y = (x * w).exp()
        z = y * x
        with torch.no_grad(), torch.enable_grad():
            u = (z * w).sin()
        return y, z, u

    assert_same(fn, leaf(4), leaf(4))


def test_inner_backward():
    """Catches a gradient taken inside, of which the outer backward differentiates again."""

    def fn(x, w):
        return grad(lambda x: (x * w).sin().pow(3).sum())(x).sum() + (x * w).sum()

    assert_same(fn, leaf(4), leaf(4))
