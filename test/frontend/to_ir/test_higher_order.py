"""Branches, loops and nested regions inside of a compiled function (J10): each behaves as eager's."""

import pytest
import torch
from differential import assert_same
from torch._higher_order_ops.while_loop import while_loop

import dovetail
from dovetail.errors import EagerWarning

pytestmark = pytest.mark.usefixtures("op_by_op")


def numbers(*shape: int, sign: float = 1.0) -> torch.Tensor:
    """A leaf whose elements' sum has the given sign."""
    return (torch.rand(shape) * sign).requires_grad_()


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("train", [True, False])
def test_cond(sign, train):
    """Catches a branch that is always taken, and gradients of the other one."""

    def fn(x, w):
        return torch.cond(x.sum() > 0, lambda x: ((x @ w).sin(), x * 2), lambda x: (x.cos(), x + 1), (x,))

    arguments = numbers(3, 3, sign=sign), numbers(3, 3)
    assert_same(fn, *arguments if train else [argument.detach() for argument in arguments], train=train)


def test_cond_takes_the_branch_of_each_call():
    """Catches a predicate that is read once, while compiling."""
    compiled = torch.compile(
        lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), backend="dovetail", fullgraph=True
    )
    x = torch.rand(4)
    graphs = dovetail.stats().graphs
    assert compiled(x).equal(x.sin())
    assert compiled(-x).equal((-x).cos())
    assert dovetail.stats().graphs == graphs + 1


def test_cond_of_other_sizes_and_strides():
    """Catches branches that are given what Dynamo left open of the second call's sizes, as nothing."""

    def fn(x):
        return torch.cond(x.sum() > 0, lambda x: x.cos() * x.shape[0], lambda x: x.sin() - x.stride(0), (x,))

    dovetail.stats(reset=True)
    compiled = torch.compile(fn, backend="dovetail")
    for sign in (1.0, -1.0):
        for x in (numbers(4, 5, sign=sign), numbers(6, 5, sign=sign), numbers(5, 6, sign=sign).t().detach()):
            assert compiled(x).equal(fn(x))
    assert not dovetail.stats().eager


def test_loop_over_other_sizes():
    """Catches a loop that is given what Dynamo left open of the second call's sizes, as nothing."""

    def fn(x):
        _, total = while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + x.sin()), (torch.tensor(0), x * 2))
        return total

    dovetail.stats(reset=True)
    compiled = torch.compile(fn, backend="dovetail")
    for x in (torch.rand(4, 5), torch.rand(6, 5), torch.rand(5, 7).t()):
        assert compiled(x).allclose(fn(x))
    assert not dovetail.stats().eager


def test_nested_cond():
    """Catches functions that are loaded before those that they run."""

    def inner(x):
        return torch.cond(x.sum() > 2, lambda x: x * 3, lambda x: x * 5, (x,))

    def fn(x):
        return torch.cond(x.sum() > 0, inner, lambda x: x - 1, (x,)).exp()

    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    for scale in (-1.0, 0.1, 2.0):
        leaves = [torch.full((4,), scale, requires_grad=True) for _ in range(2)]
        for call, leaf in zip((fn, compiled), leaves, strict=True):
            call(leaf).sum().backward()
        torch.testing.assert_close(compiled(leaves[0]), fn(leaves[0]))
        torch.testing.assert_close(leaves[1].grad, leaves[0].grad)


def test_branches_return_memory_of_their_own():
    """Catches results that share memory, because both are the same value or it is computed once."""

    def fn(x):
        return torch.cond(x.sum() > 0, lambda x: (x.exp(), x.exp()), lambda x: (x + 1, x + 2), (x,))

    def then(outputs, arguments):
        outputs[0].detach().mul_(10)
        return outputs[1]

    assert_same(fn, torch.rand(4), then=then)


def test_branches_return_no_part_of_other_memory():
    """Catches a copy that is dropped in a branch, as values have no memory: the result was 9 rows, and showed one."""

    @torch.compile(backend="dovetail")
    def fn(x):
        return torch.cond(x.sum() > 0, lambda x: x.cumsum(0)[8:].clone(), lambda x: x.sum(0, keepdim=True), (x,))

    last, total = fn(torch.ones(9, 3)), fn(-torch.ones(9, 3))
    for each in (last, total):
        assert each.storage_offset() == 0
        assert each.untyped_storage().nbytes() == each.numel() * each.itemsize


def test_random_numbers_in_a_branch():
    """Catches numbers that are drawn for a branch that is not taken, or in another order than eager's."""

    def fn(x):
        x = torch.nn.functional.dropout(x, 0.3)
        x = torch.cond(x.sum() > 0, lambda x: x * torch.rand(4), lambda x: torch.rand(4), (x,))
        return torch.nn.functional.dropout(x, 0.5)

    assert_same(fn, torch.rand(4), train=False)


def test_cond_and_mutation():
    """Catches a branch that reads the new value of an argument that is written after it."""

    def fn(x):
        y = torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x * 3, (x,))
        x.add_(1)
        return y

    assert_same(fn, torch.rand(4))


@pytest.mark.parametrize("steps", [0, 3])
def test_while_loop(steps):
    """Catches a loop that runs once, and one without a run that hands out its argument's own memory."""

    def fn(x, w):
        def body(step, x):
            return step + 1, (x @ w).tanh()

        return while_loop(lambda step, x: step < steps, body, (torch.tensor(0), x))

    def then(outputs, arguments):
        outputs[1].mul_(2)
        return arguments[0]

    assert_same(fn, torch.rand(3, 3), torch.rand(3, 3), then=then, train=False)


def test_while_loop_counts_by_values():
    """Catches a condition that is computed once."""

    def fn(x):
        return while_loop(lambda x: x.sum() < 100, lambda x: x * 2, (x,))

    assert_same(fn, torch.rand(4) + 0.1, train=False)


def test_cond_in_a_loop():
    """Catches functions of functions that a loop does not find."""

    def body(step, x):
        return step + 1, torch.cond(x.sum() > 3, lambda x: x - 1, lambda x: x + 2, (x,))

    assert_same(lambda x: while_loop(lambda step, x: step < 4, body, (torch.tensor(0), x)), torch.rand(3), train=False)


def test_inside_of_control_flow_is_compiled():
    """Catches a branch that runs op by op without being counted."""
    dovetail.stats(reset=True)
    fn = torch.compile(
        lambda x: torch.cond(x.sum() > 0, lambda x: (x * 2 + 1).relu(), lambda x: x * 3 - 1, (x,)), backend="dovetail"
    )
    fn(torch.rand(8))
    stats = dovetail.stats()
    assert stats.regions == 3
    assert stats.ops["fallback"] == 0
    assert stats.library_calls == {("dovetail.cond", "control flow: the host takes the branch"): 1}


def test_nested_compile_region():
    """Catches a region whose backward draws its random numbers again, and one compiled once for each call."""

    @torch.compiler.nested_compile_region
    def layer(x, w):
        return torch.nn.functional.dropout((x @ w).relu(), 0.5) * 2

    def fn(x, w):
        return layer(layer(layer(x, w), w), w)

    assert_same(fn, numbers(4, 4), numbers(4, 4))


def test_region_in_a_region():
    """Catches calls that are left over inside of what was inlined."""

    @torch.compiler.nested_compile_region
    def inner(x, y):
        return x * y, y + 1

    @torch.compiler.nested_compile_region
    def outer(x):
        left, right = inner(x, x + 1)
        return torch.cond(left.sum() > 0, lambda x: inner(x, x + 3)[0], lambda x: x * 2, (left,)) + right

    assert_same(lambda x: outer(outer(x)), numbers(4))


def test_scan_runs_eagerly():
    """Catches an operator whose graph is ignored; the message names the user's line."""
    from torch._higher_order_ops.scan import scan

    def fn(x):
        return scan(lambda carry, x: (carry + x, carry * x), x[0], x)

    with pytest.warns(EagerWarning, match=r"test_higher_order.py:\d+: higher-order operator scan"):
        torch.compile(fn, backend="dovetail", fullgraph=True)(torch.rand(3, 4))
