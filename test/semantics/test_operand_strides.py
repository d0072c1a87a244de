"""Ops that see how their operands lie in memory see what eager shows them; kernels that rely on it get it.

The ops here note the strides that they are given. Custom ops may run in another order, so notes are compared sorted.
"""

import copy
from collections.abc import Callable

import pytest
import torch
from differential import assert_same
from old_torch import IS_2_11
from torch.utils.checkpoint import checkpoint

from dovetail.errors import EagerWarning

seen: list[tuple] = []


@torch.library.custom_op("dovetail_strides::note", mutates_args=())
def note(x: torch.Tensor, tag: str) -> torch.Tensor:
    seen.append((tag, x.stride()))
    return x * 2


@torch.library.custom_op("dovetail_strides::note_gradient", mutates_args=())
def note_gradient(x: torch.Tensor, tag: str) -> torch.Tensor:
    seen.append((f"gradient of {tag}", x.stride()))
    return x * 2


@torch.library.custom_op("dovetail_strides::note_all", mutates_args=())
def note_all(tensors: list[torch.Tensor], other: torch.Tensor | None) -> list[torch.Tensor]:
    seen.append(("all", [tensor.stride() for tensor in tensors], None if other is None else other.stride()))
    return [tensor * 2 for tensor in tensors]


@torch.library.custom_op("dovetail_strides::note_and_write", mutates_args={"x"})
def note_and_write(x: torch.Tensor, other: torch.Tensor) -> None:
    seen.append(("write", x.stride(), other.stride()))
    x.add_(1)


# "view": what an op of another namespace is called says nothing of it.
@torch.library.custom_op("dovetail_strides::view", mutates_args=())
def view(x: torch.Tensor) -> torch.Tensor:
    seen.append(("view", x.stride()))
    return x * 3


@torch.library.custom_op("dovetail_strides::note_rows", mutates_args=())
def note_rows(x: torch.Tensor) -> torch.Tensor:
    seen.append(("rows", x.stride()))
    return (x * 2).contiguous()


note_rows.register_fake(lambda x: torch.empty(x.shape))
note.register_fake(lambda x, tag: torch.empty_like(x))
note_gradient.register_fake(lambda x, tag: torch.empty_like(x))
note_all.register_fake(lambda tensors, other: [torch.empty_like(tensor) for tensor in tensors])
view.register_fake(lambda x: torch.empty_like(x))
note.register_autograd(
    lambda ctx, gradient: (note_gradient(gradient, ctx.tag), None),
    setup_context=lambda ctx, inputs, output: setattr(ctx, "tag", inputs[1]),
)


def _noted(fn: Callable, args: tuple, train: bool) -> tuple[list, torch.Tensor, list]:
    """What the ops noted in a call (and its backward), the result, and the arguments' gradients."""
    seen.clear()
    given = [each.detach().clone().requires_grad_(train) for each in args]
    result = fn(*given)
    if train:
        result.sum().backward()
    return sorted(map(repr, seen)), result, [each.grad for each in given]


def assert_sees_same(
    fn: Callable, *args: torch.Tensor, train: bool = False, repeats: bool = False, other_values: tuple = ()
) -> None:
    """Asserts equal notes, result and gradients in two calls; the second one's arguments may be `other_values`.

    `repeats`: eager runs ops again that the program need not.
    """
    torch._dynamo.reset()
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    for given in (args, other_values or args):
        expected, result, gradients = _noted(fn, given, train)
        actual, ours, our_gradients = _noted(compiled, given, train)
        if repeats:
            assert set(actual) == set(expected)
        else:
            assert actual == expected
        torch.testing.assert_close(ours, result)
        torch.testing.assert_close(our_gradients, gradients)


def _spread() -> torch.Tensor:
    """3 rows of 4 numbers that differ: gradients of a norm of equal numbers are but rounding."""
    return torch.linspace(0.1, 0.9, 12).view(3, 4)


def _layouts(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    rows = note(x.t().contiguous(), "rows")
    normalized = note(torch.nn.functional.layer_norm(rows.t(), (4,)), "normalized")
    transposed = note((x * 2).t(), "transposed")
    expanded = note(x.clamp(0, 1).expand(2, 3, 4), "expanded")
    clamped = note(x.t().clamp(0, 1), "clamped")
    sliced = note(x[:, ::2], "sliced")
    total = (normalized * weight).sum() + (transposed.t() * weight).sum() + (expanded * weight).sum()
    return total + (clamped * weight.t()).sum() + (sliced * weight[:, 1:3]).sum()


@pytest.mark.usefixtures("op_by_op")
def test_layouts():
    """Catches a copy that is dropped before an op that sees it, and a region's result where eager's is no row-major."""
    assert_sees_same(_layouts, _spread(), torch.rand(3, 4), train=True)


def test_lists_and_names():
    """Catches tensors in lists, optional ones, and an op with the name of a view, whose layout nobody states."""

    def fn(x):
        parts = note_all([x.t(), x.t().contiguous(), x[:, ::2], x.unfold(1, 2, 1) * 1], x.t().contiguous())
        return sum(part.sum() for part in parts) + view(x.t().contiguous()).sum() + note_all([x], None)[0].sum()

    assert_sees_same(fn, torch.rand(3, 4))


@pytest.mark.usefixtures("op_by_op")
def test_layout_that_changes():
    """A stride that Dynamo left open, and that became known while it traced, was no number: the graph ran eagerly."""
    compiled = torch.compile(note_rows, backend="dovetail", fullgraph=True)
    x = torch.randn(31, 8)
    for laid_out in (x.t(), x.reshape(8, 31), x.reshape(4, 62), x.reshape(62, 4).t()):
        seen.clear()
        torch.testing.assert_close(compiled(laid_out), laid_out * 2)
        assert seen == [("rows", laid_out.stride())]


@pytest.mark.usefixtures("op_by_op")
def test_operands_beside_what_is_written():
    """Catches an op that writes one argument and is given another one in a layout of ours."""

    def fn(x):
        target = torch.zeros(4, 3).t()
        note_and_write(target, x.t().contiguous())
        return target * 2

    assert_sees_same(fn, torch.rand(3, 4))


def test_images():
    """Catches channels-last images that an op gets row by row, or the reverse."""

    def fn(x):
        last = torch.relu(x) + 1
        return note(last, "last").sum() + note((last * 2).contiguous(), "rows").sum() + note(last.mean(1), "mean").sum()

    x = torch.rand(2, 4, 6, 8).contiguous(memory_format=torch.channels_last)
    assert_sees_same(fn, x)


@pytest.mark.usefixtures("op_by_op")
def test_overlapping_windows():
    """Catches an operand whose elements lie in one another's place: it can't be copied to element by element."""
    assert_sees_same(lambda x: note((x + 1).unfold(0, 3, 1), "windows") + 0, torch.rand(6))


@pytest.mark.usefixtures("op_by_op")
def test_checkpoint():
    """Catches another layout where the op runs again in the backward."""

    def fn(x, weight):
        return checkpoint(_layouts, x, weight, use_reentrant=False)

    assert_sees_same(fn, _spread(), torch.rand(3, 4), train=True, repeats=True)


@pytest.mark.usefixtures("op_by_op")
def test_cond():
    """Catches an op in a branch, whose operands only the branch's own graph describes."""

    def fn(x):
        return torch.cond(
            x.sum() > 0,
            lambda x: note(x.t().contiguous(), "then"),
            lambda x: note((x * 2).t(), "else").contiguous(),
            (x,),
        )

    assert_sees_same(fn, torch.rand(3, 4), other_values=(-torch.rand(3, 4),))


def _in_rows(x: torch.Tensor) -> torch.Tensor:
    """Is laid out row by row by its kernel, and as `x` by PyTorch's description."""
    return torch.nn.functional.logsigmoid(x)


class Rows(torch.autograd.Function):
    """Notes how its result lies, before it returns it."""

    @staticmethod
    def forward(ctx, x):
        return note(_in_rows(x), "custom function")

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


def _inner(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda x: note(_in_rows(x), "then"), lambda x: note(_in_rows(x) * 1, "else"), (x,))


BRANCHES = {
    "branch": _inner,
    "branch in branch": lambda x: torch.cond(x.sum() > 1, lambda x: _inner(x) * 2, lambda x: _inner(x) * 3, (x,)),
    "result": lambda x: note(torch.cond(x.sum() > 0, _in_rows, lambda x: _in_rows(x) + 1, (x,)), "outside"),
    "custom function": lambda x: torch.cond(x.sum() > 0, lambda x: Rows.apply(x), lambda x: Rows.apply(x) + 1, (x,)),
}


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize("function", BRANCHES.values(), ids=BRANCHES)
def test_kernels_in_branches(function: Callable):
    """Catches an op that is given the layout that tracing describes, where the kernel before it has another."""
    assert_sees_same(lambda x: function(x.t()), torch.rand(3, 4), other_values=(-torch.rand(3, 4),))


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize("train", [False, True])
def test_kernels_in_custom_functions(train: bool):
    """The same in a custom function, whose ops no node of the graph around it names."""
    weights = torch.rand(4, 3)
    assert_sees_same(lambda x: Rows.apply(x.t()) * weights, torch.rand(3, 4), train=train)


@pytest.mark.host  # a GPU's kernel lays out as described
@pytest.mark.usefixtures("op_by_op")
def test_branches_that_lay_out_in_different_ways():
    """Catches strides of one branch that are taken for those of the other: eager's depend on which one runs."""

    def fn(x):
        return torch.cond(x.sum() > 0, _in_rows, lambda x: x + 1, (x.t(),))

    torch._dynamo.reset()
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    for x in (torch.rand(3, 4), -torch.rand(3, 4)):
        with pytest.warns(EagerWarning, match=r"test_operand_strides.py:\d+: branches lay one result out in different"):
            assert compiled(x).stride() == fn(x).stride()
        torch._dynamo.reset()


@pytest.mark.host  # a GPU's kernel lays out as described
@pytest.mark.usefixtures("op_by_op")
def test_loop_that_lays_out_what_it_carries():
    """Catches strides of what a loop is given where its first run lays that out anew."""

    def fn(x):
        return torch.while_loop(lambda n, x: n < 2, lambda n, x: (n + 1, _in_rows(x)), (torch.tensor(0), x.t() * 1))[1]

    torch._dynamo.reset()
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    x = torch.rand(3, 4)
    with pytest.warns(EagerWarning, match="runs of a loop lay one result out in different ways"):
        assert compiled(x).stride() == fn(x).stride()


@pytest.mark.compiled  # PyTorch calls CUDA's fused cells, which no CPU has
@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize(
    ("cell", "options"), [(torch.nn.LSTM, {"batch_first": True, "bidirectional": True}), (torch.nn.GRU, {})]
)
def test_recurrent(cell: type, options: dict, device: str):
    """Catches an LSTM's kernel that reads transposed weights or inputs as if they lay row by row: off by 0.57."""
    # On a GPU, PyTorch 2.11 gives the last state of an LSTM in parts a dimension more than its kernel does.
    eager = IS_2_11 and device == "cuda" and cell is torch.nn.LSTM
    # A copy's weights lie apart, those of a cell on a GPU in one piece; and its kernels may round to 10 bits.
    copied = copy.deepcopy(cell(8, 16, **options))
    with torch._dynamo.config.patch(allow_rnn=True), torch.backends.cudnn.flags(allow_tf32=False):
        assert_same(copied, torch.rand(3, 2, 8, requires_grad=True), calls=1, graphs=int(not eager), eager=eager)


@pytest.mark.usefixtures("op_by_op")
def test_attention():
    """Catches an attention kernel that takes the last dimension for contiguous, where the copy for it is gone."""

    def fn(q, k, v):
        q, k = (each.transpose(-1, -2).contiguous() for each in (q, k))
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)

    q, k, v = (torch.rand(2, 2, *size, requires_grad=True) for size in ((8, 16), (8, 16), (16, 8)))
    assert_same(fn, q, k, v, calls=1)


@pytest.mark.usefixtures("op_by_op")
def test_embedding_bag_of_strided_indices():
    """Its kernel takes the indices for contiguous: without eager's copy, bags held other rows."""

    def function(indices: torch.Tensor, table: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.embedding_bag(indices, table, offsets, mode="sum")

    arguments = (torch.arange(10)[::2], torch.rand(10, 5), torch.tensor([0, 3]))
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="dovetail")
    torch.testing.assert_close(compiled(*arguments), function(*arguments))


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_group_norm(dtype: torch.dtype):
    """Catches a group norm that is given a transposed operand, which ATen refuses; bfloat16 always runs there."""

    def fn(x):
        return torch.nn.functional.group_norm(x.transpose(0, 1).contiguous(), 1)

    assert_same(fn, torch.rand(4, 9, 13, dtype=dtype), calls=1)


def test_group_norm_of_channels_last():
    """Catches a group norm whose operand, channels last in eager, a region has laid out row by row."""
    conv = torch.nn.Conv2d(3, 8, 3).to(memory_format=torch.channels_last)
    images = torch.rand(2, 3, 9, 9).to(memory_format=torch.channels_last)
    assert_same(lambda x: torch.nn.functional.group_norm(conv(x) * 2, 4), images, calls=1)


@pytest.mark.usefixtures("op_by_op")
def test_truth_values_drawn_along_memory():
    """Catches those of a transposed tensor drawn row by row, as their functional op has them, on other elements."""

    def fn(x):
        draws = torch.nn.functional.alpha_dropout(x * 2, 0.3, training=True), (x * 3).bernoulli_(0.3)
        return *draws, torch.bernoulli(x * 2, 0.3)

    x = torch.rand(3, 7, 5, 9).movedim(-1, 0)
    torch.manual_seed(0)
    expected = fn(x)
    torch.manual_seed(0)
    torch.testing.assert_close(torch.compile(fn, backend="dovetail")(x), expected)


DRAWS = {
    "dropout": lambda y: torch.nn.functional.dropout(y, 0.3),
    "alpha_dropout": lambda y: torch.nn.functional.alpha_dropout(y, 0.3, training=True),
    "bernoulli": lambda y: torch.bernoulli(y.sigmoid()),
    "rand_like": torch.rand_like,
    "uniform_": lambda y: y.uniform_(),
    "normal_": lambda y: y.normal_(),
    "exponential_": lambda y: y.exponential_(),
    "geometric_": lambda y: y.geometric_(0.5),
}


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize("train", [True, False])
def test_random_numbers_in_the_order_of_a_norm(train: bool):
    """Catches numbers drawn in the order of what tracing makes of a norm: they fell on other elements than in eager."""

    def fn(x):
        # A norm for each, as some write to it.
        return {
            name: draw(torch.nn.functional.batch_norm(x, None, None, training=True)) for name, draw in DRAWS.items()
        }

    x = torch.rand(3, 7, 5, 9).movedim(-1, 0).requires_grad_(train)
    compiled = torch.compile(fn, backend="dovetail")
    torch.manual_seed(0)
    expected = fn(x)
    torch.manual_seed(0)
    actual = compiled(x)
    wrong = {name for name in DRAWS if not torch.allclose(actual[name], expected[name], atol=1e-5)}
    assert not wrong
