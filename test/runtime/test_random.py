"""Random numbers are eager's for the same seed, in forward and backward, and leave the generator where eager does."""

import pytest
import torch
import torch.nn.functional as F
from differential import assert_same

pytestmark = pytest.mark.usefixtures("op_by_op")


def numbers(*shape: int) -> torch.Tensor:
    return torch.linspace(0.1, 0.9, torch.Size(shape).numel()).reshape(shape).requires_grad_()


DRAWS = {
    "dropout": lambda x: F.dropout(x.sin(), 0.5) * 2,
    "alpha dropout": lambda x: F.alpha_dropout(x, 0.5, True),
    "rand": lambda x: (torch.rand(4) + x.sum(), torch.rand_like(x), torch.rand(3) * 2),
    "bernoulli": lambda x: x * torch.bernoulli(x),
    "normal": lambda x: x + torch.empty(4).normal_().sum() + torch.randn_like(x),
    "exponential": lambda x: x * torch.empty(8).exponential_() + torch.empty(8).uniform_(),
    "integers": lambda x: x.sum() + torch.randint(0, 9, (4,)) + torch.randperm(4),
    "multinomial": lambda x: (x * 2, torch.multinomial(x, 2)),
    "rrelu": lambda x: F.rrelu(x - 0.5, training=True),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws(name):
    """Catches numbers drawn in another order or number, or drawn anew in the backward (J12)."""
    assert_same(DRAWS[name], numbers(8), calls=3)


def test_attention_dropout():
    """Catches fused attention that drops other elements than eager's (J12)."""
    assert_same(lambda q: F.scaled_dot_product_attention(q, q, q, dropout_p=0.5), numbers(1, 2, 4, 8))


def test_recomputation_around_dropout():
    """Catches a mask that the backward recomputes with fresh numbers (J4)."""
    assert_same(lambda x, w: (F.dropout(x @ w, 0.5).sin() * w).exp(), numbers(4, 4), numbers(4, 4))


def test_unused_draw():
    """Catches a draw removed because nobody uses it: those after it then differ from eager's (J12)."""

    def fn(x):
        torch.rand(3)
        return x + torch.rand(8)

    assert_same(fn, numbers(8))


def test_argument_filled_with_random_numbers():
    """Catches random numbers written to an argument that differ from eager's."""
    assert_same(lambda x: x.normal_(), torch.zeros(4), train=False)


def test_draw_over_a_normalized_result():
    """Catches a mask in the order of the argument's memory: eager's kernel lays its result out by rows."""
    assert_same(lambda x: F.dropout(F.layer_norm(x, (3,)), 0.5), numbers(3, 2), prepare=lambda x: (x.t(),))


def test_draw_over_what_was_made_contiguous():
    """Catches numbers drawn in the order of the argument's memory: on values, without one, `contiguous` is no op."""
    assert_same(lambda x: F.dropout(x.contiguous(), 0.5), numbers(3, 2), prepare=lambda x: (x.t(),))
