"""Activation checkpointing inside of a compiled function: what the user wants recomputed is not saved (J4)."""

import functools
from collections.abc import Callable

import pytest
import torch
from differential import assert_same
from torch.nn.functional import dropout
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

import dovetail
from dovetail.frontend.dynamo.eager_checkpoints import with_checkpoints

pytestmark = pytest.mark.usefixtures("op_by_op")

ALGORITHMS = ("min-cut", "default")
ROW, MATRIX = 8 * 4, 8 * 8 * 4  # bytes


def saved_bytes(fn: Callable, *arguments: torch.Tensor, partition: str) -> int:
    """What one call of `fn` keeps for the backward, parameters and arguments apart."""
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    torch.compile(fn, backend="dovetail", fullgraph=True, options={"partition": partition})(*arguments)
    return dovetail.stats().saved_bytes


def layer(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Saves the product, or the tanh of it, and the second product where nothing is recomputed."""
    return ((x @ w).tanh() @ w).sigmoid()


def weights(*sizes: tuple[int, int]) -> list[torch.Tensor]:
    return [(torch.rand(size) / 4).requires_grad_() for size in sizes]


def checkpointed(fn: Callable, policy: Callable | None = None) -> Callable:
    contexts = {} if policy is None else {"context_fn": functools.partial(create_selective_checkpoint_contexts, policy)}
    return lambda *arguments: checkpoint(fn, *arguments, use_reentrant=False, **contexts)


@pytest.mark.parametrize("partition", ALGORITHMS)
def test_same_numbers(partition):
    """Catches a recomputed value that differs, and a gradient that is lost on the way."""
    fn = checkpointed(layer)
    assert_same(lambda x, w: fn(fn(x, w).exp(), w).sum(), *weights((8, 8), (8, 8)), options={"partition": partition})


@pytest.mark.parametrize("partition", ALGORITHMS)
def test_inside_is_not_saved(partition):
    """Catches tags that are read and ignored: the products would be saved, as they are without checkpointing."""
    x, w = weights((8, 8), (8, 8))
    assert saved_bytes(lambda x, w: layer(x, w).sum(), x, w, partition=partition) >= MATRIX
    assert saved_bytes(lambda x, w: checkpointed(layer)(x, w).sum(), x, w, partition=partition) == 0


@pytest.mark.parametrize("partition", ALGORITHMS)
def test_what_the_next_region_takes_is_saved(partition):
    """Catches a chain of checkpointed layers of which the last one's backward recomputes all before it."""
    x, w = weights((8, 8), (8, 8))

    def fn(x, w):
        for _ in range(3):
            x = checkpointed(layer)(x, w)
        return x.sum()

    assert saved_bytes(fn, x, w, partition=partition) == 2 * MATRIX
    assert_same(fn, x, w, options={"partition": partition})


@pytest.mark.parametrize("partition", ALGORITHMS)
def test_a_view_that_the_next_region_takes_is_saved(partition):
    """Catches a border between regions that is not seen, because the value crosses it as a view."""
    x, w = weights((8, 8), (8, 8))

    def fn(x, w):
        x = checkpointed(lambda x, w: layer(x, w).t())(x, w)
        return checkpointed(layer)(x, w).sum()

    assert saved_bytes(fn, x, w, partition=partition) == MATRIX
    assert_same(fn, x, w, options={"partition": partition})


@pytest.mark.parametrize("partition", ALGORITHMS)
def test_random_numbers_are_saved(partition):
    """Catches a mask that is drawn again in the backward: other numbers, and a moved generator."""

    def fn(x, w):
        return checkpointed(lambda x, w: dropout((x @ w).tanh(), 0.5) @ w)(x, w).sum()

    x, w = weights((8, 8), (8, 8))
    assert_same(fn, x, w, options={"partition": partition})
    assert 0 < saved_bytes(fn, x, w, partition=partition) <= 2 * MATRIX


@pytest.mark.parametrize("partition", ALGORITHMS)
@pytest.mark.parametrize("words", [("MUST_SAVE", "MUST_RECOMPUTE"), ("PREFER_SAVE", "PREFER_RECOMPUTE")])
def test_selective_policy(partition, words):
    """Catches a policy that is not asked for each op: products are saved here, all else is recomputed."""
    save, recompute = (CheckpointPolicy[word] for word in words)

    def policy(ctx, op, *args, **kwargs):
        return save if op is torch.ops.aten.mm.default else recompute

    def fn(x, w):
        return checkpointed(layer, policy)(x, w).sum()

    x, w = weights((8, 8), (8, 8))
    assert saved_bytes(fn, x, w, partition=partition) == 2 * MATRIX
    assert_same(fn, x, w, options={"partition": partition})


@pytest.mark.parametrize("partition", ALGORITHMS)
def test_what_must_be_saved_is(partition):
    """Catches a cut that saves something else of the same size in place of what the user named."""

    def policy(ctx, op, *args, **kwargs):
        return CheckpointPolicy.MUST_SAVE if op is torch.ops.aten.exp.default else CheckpointPolicy.MUST_RECOMPUTE

    def fn(x):
        return checkpointed(lambda x: x.sum(0).sin().exp().cos().sin(), policy)(x).sum()

    (x,) = weights((8, 8))
    assert saved_bytes(fn, x, partition=partition) >= ROW
    assert_same(fn, x, options={"partition": partition})


def test_recomputed_products_are_counted():
    """Catches a backward that does not recompute what is not saved: two of the forward, two again, four of its own."""
    x, w = weights((8, 8), (8, 8))
    dovetail.stats(reset=True)
    torch.compile(lambda x, w: checkpointed(layer)(x, w).sum(), backend="dovetail", fullgraph=True)(x, w)
    products = sum(count for (op, _), count in dovetail.stats().library_calls.items() if op == "aten.mm.default")
    assert products == 2 + 2 + 4


def test_inference():
    """Catches tags that stay where there is no backward."""
    x, w = weights((8, 8), (8, 8))
    assert_same(checkpointed(layer), x.detach(), w.detach())


def test_mutation_before_it():
    """Catches a recomputed value that reads what an argument held before the call wrote it."""

    def fn(x, w, buffer):
        buffer.add_(1)
        return checkpointed(lambda x, w: layer(x * buffer, w))(x, w).sum()

    x, w = weights((8, 8), (8, 8))
    assert_same(fn, x, w, torch.rand(8))


def test_graph_that_runs_eagerly():
    """Catches a mask that is drawn again in the backward, as Dynamo's own operator does where nothing traces it."""

    def policy(ctx, op, *args, **kwargs):
        return CheckpointPolicy.PREFER_RECOMPUTE

    def fn(x, w):
        inner = checkpointed(lambda x: dropout(x.sin(), 0.5), policy)
        return checkpointed(lambda x, w: inner(dropout(x @ w, 0.5)).exp())(x, w).sum()

    def gradients(call) -> list[torch.Tensor]:
        x, w = (torch.linspace(-1, 1, 64).reshape(8, 8).requires_grad_() for _ in range(2))
        torch.manual_seed(3)
        call(x, w).backward()
        return [x.grad, w.grad]

    compiled = torch.compile(fn, backend=lambda gm, inputs: with_checkpoints(gm).forward, fullgraph=True)
    torch.testing.assert_close(gradients(compiled), gradients(fn))


class _Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.count = 2
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * ctx.count + 0 * x


def test_custom_function_in_a_graph_that_runs_eagerly():
    """Catches what a custom function saves and `checkpoint` does not see. It recomputes up to the last such tensor:
    here past a write, after which nothing equals its maximum."""

    def fn(x, y):
        def body(x, y):
            doubled = y * 2
            largest = doubled.amax(0)
            doubled.copy_(x)
            return largest, doubled, _Twice.apply(x)

        return sum(each.sum() for each in checkpoint(body, x, y, use_reentrant=False))

    def gradients(call) -> list[torch.Tensor]:
        x, y = (torch.linspace(start, 1, 6).reshape(3, 2).requires_grad_() for start in (-1, -2))
        call(x, y).backward()
        return [x.grad, y.grad]

    compiled = torch.compile(fn, backend=lambda gm, inputs: with_checkpoints(gm).forward, fullgraph=True)
    expected = gradients(fn)
    assert expected[1].isnan().all()
    torch.testing.assert_close(gradients(compiled), expected, equal_nan=True)
