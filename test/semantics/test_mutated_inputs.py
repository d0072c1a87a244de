"""What a call leaves in its arguments, and what autograd and the version counter know of it."""

import pytest
import torch
from differential import assert_same, without_dynamo

pytestmark = pytest.mark.usefixtures("op_by_op")


def vector(*, grad: bool = False) -> torch.Tensor:
    return torch.linspace(-1, 1, 4).requires_grad_(grad)


def matrix(*, grad: bool = False) -> torch.Tensor:
    return torch.linspace(-1, 1, 6).reshape(2, 3).requires_grad_(grad)


def cloned(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(tensor.clone() for tensor in tensors)


def doubled(x):
    x.mul_(2)
    return x.sin()


def test_mutation_without_grad():
    """Catches a write that the epilogue forgets (I4)."""
    assert_same(doubled, vector())


def test_mutation_tracked_by_autograd():
    """Catches a copy that gradients don't flow through (I2)."""
    assert_same(doubled, vector(grad=True), prepare=cloned, then=lambda outputs, arguments: arguments[0] * 3)


def test_mutated_leaf_under_no_grad():
    """Catches a tracked copy into a leaf, which raises, or one after which the leaf is none (I3)."""

    def fn(x):
        with torch.no_grad():
            x.mul_(2)
        return x.sin()

    assert_same(fn, vector(grad=True))
    assert_same(fn, vector(grad=True), prepare=cloned)
    assert_same(fn, vector())


@pytest.mark.parametrize("prepare", [None, cloned], ids=["leaf", "non-leaf"])
def test_mutation_through_detach(prepare):
    """Catches a tracked copy where autograd saw nothing: an error for a leaf, a wrong gradient for others (I3)."""

    def fn(x):
        x.detach().mul_(2)
        return x.sin()

    assert_same(fn, vector(grad=True), prepare=prepare, then=lambda outputs, arguments: arguments[0] * 3)


def test_mutation_through_data():
    """Catches a tracked copy where the user wrote through `.data` (I5)."""

    def fn(x):
        x.data.mul_(2)
        return x + 1

    assert_same(fn, vector())
    assert_same(fn, vector(grad=True))


def test_gradient_reaches_what_was_copied_in():
    """Catches a write of a differentiable value into an argument without grad that stays without (I2)."""

    def fn(x, y):
        x.copy_(y * 2)
        return x.sin()

    assert_same(fn, vector(), vector(grad=True))


def test_mutation_without_results():
    """Catches a program dropped because it returns nothing."""

    def fn(x, y):
        x.add_(y)

    assert_same(fn, vector(), vector())
    assert_same(fn, vector(grad=True), vector(grad=True), prepare=cloned)


def test_two_arguments_written_from_each_other():
    """Catches an epilogue whose second write reads what the first one wrote."""

    def fn(x, y):
        old = x.clone()
        x.copy_(y)
        y.copy_(old)
        return x - y

    assert_same(fn, vector(), torch.ones(4))
    assert_same(fn, vector(grad=True), torch.ones(4, requires_grad=True), prepare=cloned)


def test_mutated_argument_returned():
    """Catches a result that equals the argument but is another object."""

    def fn(x):
        x.add_(1)
        x.mul_(3)
        return x

    assert_same(fn, vector())
    assert_same(fn, vector(grad=True), prepare=cloned)


def test_view_of_mutated_argument_returned():
    """Catches a view taken of the value before the write."""

    def fn(x):
        x.add_(1)
        return x.view(2, 2).t()

    assert_same(fn, vector(), then=lambda outputs, arguments: outputs.mul_(2))
    assert_same(fn, vector(grad=True), prepare=cloned, then=lambda outputs, arguments: outputs.mul_(2))


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x[:, 1:].copy_(x[:, :-1].clone()),
        lambda x: x[:, :-1].copy_(x[:, 1:].clone()),
        lambda x: x[:, 50:].copy_(x[:, :50]),
        lambda x: x[:, ::2].copy_(x[:, 1::2]),
        lambda x: x[:, 1:].add_(x[:, :-1].clone()),
        lambda x: x.copy_(x.flip(0)),
        lambda x: x[2:].copy_(x[1:-1] + x[:-2]),
        lambda x: x[0].copy_(x[1]),
    ],
    ids=["right", "left", "disjoint", "strided", "add", "flip", "rows", "row"],
)
def test_write_overlapping_its_read(write):
    """Catches a kernel that writes in place what it still reads, or that writes into its argument (hazard H1)."""

    def fn(x):
        write(x)
        return x + 1

    assert_same(fn, torch.arange(1000.0).reshape(10, 100), train=False)


def test_slice_scattered_into_an_argument():
    """Catches IREE scattering a slice into the argument's own memory."""

    def fn(x):
        return x.slice_scatter(x[:, :50], 1, 50), x.slice_scatter(x[:, :-1], 1, 1), x.slice_scatter(x, 0)

    assert_same(fn, torch.arange(1000.0).reshape(10, 100).requires_grad_())


@pytest.mark.parametrize("op", ["index_put", "zero", "relu", "masked_fill"])
def test_in_place_ops(op):
    """Catches an in-place op whose functional form loses the write."""
    writes = {
        "index_put": lambda x: x.index_put_((torch.tensor([0, 2]),), torch.tensor(5.0)),
        "zero": lambda x: x.zero_(),
        "relu": lambda x: x.relu_(),
        "masked_fill": lambda x: x.masked_fill_(x > 0, 7.0),
    }

    def fn(x):
        writes[op](x)
        return x * 2

    assert_same(fn, vector(grad=True), prepare=cloned)


def test_saved_value_of_an_argument_that_is_overwritten():
    """Catches a gradient computed from what the epilogue wrote; eager keeps the copy that the user made."""

    def fn(x, y):
        product = x.clone() * y
        x.mul_(2)
        return product

    assert_same(fn, vector(), torch.ones(4, requires_grad=True))
    assert_same(fn, vector(grad=True), torch.ones(4, requires_grad=True), prepare=lambda x, y: (x.clone(), y))


@pytest.mark.parametrize(
    "change",
    [lambda x: x.t_(), lambda x: x.unsqueeze_(1), lambda x: x.as_strided_((2, 2), (1, 2)), lambda x: x.swapaxes_(0, 1)],
    ids=["t_", "unsqueeze_", "as_strided_", "swapaxes_"],
)
def test_metadata_mutation(change):
    """Catches sizes and strides of an argument that stay as they were (I6). Dynamo itself would break the graph."""

    def fn(x):
        change(x)
        return x * 2

    assert_same(fn, matrix(), compiler=without_dynamo)
    assert_same(fn, matrix(grad=True), prepare=cloned, compiler=without_dynamo)


def test_metadata_mutation_of_the_result():
    """Catches a copy returned in place of the argument whose sizes changed."""

    def fn(x):
        x.squeeze_()
        return x

    assert_same(fn, torch.ones(2, 1, 3), compiler=without_dynamo)


def test_version_counter_of_data():
    """Catches a version counter that moves though eager's does not, so that a later backward raises (I5)."""
    x = torch.ones(4)
    torch.compile(lambda x: x.data.mul_(2) + 1, backend="dovetail")(x)
    assert x._version == 0
