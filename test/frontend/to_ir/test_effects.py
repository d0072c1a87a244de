"""Ops whose effect is ordered, and assertions: they run once, in eager's order, and none is lost (J11)."""

import pytest
import torch
from differential import assert_same
from torch._higher_order_ops.effects import _EffectType, _register_effectful_op

pytestmark = pytest.mark.usefixtures("op_by_op")

seen: list[str] = []


@torch.library.custom_op("dovetail_test::note", mutates_args=())
def note(x: torch.Tensor, what: str) -> None:
    seen.append(f"{what} {x.sum().item():.1f}")


@torch.library.custom_op("dovetail_test::note_and_double", mutates_args=())
def note_and_double(x: torch.Tensor) -> torch.Tensor:
    seen.append(f"double {x.sum().item():.1f}")
    return x * 2


note.register_fake(lambda x, what: None)
note_and_double.register_fake(torch.empty_like)
_register_effectful_op(torch.ops.dovetail_test.note.default, _EffectType.ORDERED)
_register_effectful_op(torch.ops.dovetail_test.note_and_double.default, _EffectType.ORDERED)


class NotesInBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        note(x, "forward")
        return x * 3

    @staticmethod
    def backward(ctx, gradient):
        note(gradient, "backward")
        return gradient * 3


@pytest.mark.parametrize("train", [True, False])
def test_order_and_number(train):
    """Catches an effect that is dropped for want of a use, repeated in the backward, or moved past another."""

    def fn(x):
        note(x, "first")
        y = note_and_double(x)
        note(y, "second")
        return y.detach() + x.exp()

    x = torch.ones(3, requires_grad=train)
    seen.clear()
    fn(x.detach())
    expected = list(seen)
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    for _ in range(2):
        seen.clear()
        result = compiled(x)
        assert seen == expected
        if train:
            result.sum().backward()
        assert seen == expected
    assert_same(fn, x, train=train)


def test_effect_of_the_backward():
    """Catches an effect of the backward that happens in the forward, or twice."""
    compiled = torch.compile(lambda x: NotesInBackward.apply(x).exp(), backend="dovetail", fullgraph=True)
    x = torch.zeros(2, requires_grad=True)
    seen.clear()
    result = compiled(x)
    assert seen == ["forward 0.0"]
    result.sum().backward()
    assert seen == ["forward 0.0", "backward 2.0"]


@pytest.mark.parametrize("requires_grad", [True, False])
@pytest.mark.parametrize("message", [[], ["too large"]], ids=["bare", "message"])
def test_assertion(message, requires_grad):
    """Catches a check that tracing drops, so that a failing one passes, and one that comes after a write."""

    def fn(x, y):
        y.add_(1)
        torch._assert_async(x.sum() < 10, *message)
        return x * 2

    assert_same(fn, torch.ones(3, requires_grad=requires_grad), torch.ones(2))
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    x, y = torch.ones(3, requires_grad=requires_grad), torch.ones(2)
    compiled(x, y)
    with pytest.raises(RuntimeError, match=message[0] if message else "Expected Tensor with single nonzero value"):
        compiled((x * 100).detach().requires_grad_(requires_grad), y)
    assert y.tolist() == [2.0, 2.0]


def test_assertion_in_a_branch():
    """Catches a check in a branch that is not taken, and one that is lost because its branch returns nothing of it."""

    def checked(x):
        torch._assert_async(x.sum() < 10)
        return x * 2

    compiled = torch.compile(
        lambda x, flag: torch.cond(flag > 0, checked, lambda x: x * 3, (x,)), backend="dovetail", fullgraph=True
    )
    large, yes, no = torch.full((3,), 9.0), torch.tensor(1), torch.tensor(0)
    assert compiled(large, no).tolist() == [27.0] * 3
    with pytest.raises(RuntimeError, match="Expected Tensor with single nonzero value"):
        compiled(large, yes)
