"""Mutation, aliasing and gradients combined: what arguments, results and intermediates can be to one another."""

from collections.abc import Callable

import pytest
import torch
from differential import assert_same, without_dynamo
from torch.utils._pytree import tree_map

pytestmark = pytest.mark.usefixtures("op_by_op")

TRAINING = pytest.mark.parametrize("training", [False, True], ids=["inference", "training"])


def vector(*, grad: bool = False) -> torch.Tensor:
    return torch.linspace(-1, 1, 6).requires_grad_(grad)


def matrix(*, grad: bool = False) -> torch.Tensor:
    return torch.linspace(-1, 1, 6).reshape(2, 3).requires_grad_(grad)


def cloned(*arguments) -> tuple:
    return tree_map(torch.clone, arguments)


def beside(*functions: Callable) -> Callable:
    """One program of all of them, each on a list of arguments of its own."""
    return lambda *given: [function(*each) for function, each in zip(functions, given, strict=True)]


def write_first_of_each(outputs, arguments):
    return [each[0].mul_(3) for each in outputs]


def write_first_argument_of_each(outputs, arguments):
    return [each[0].mul_(3) for each in arguments]


def first_written(x, y):
    x.mul_(2)
    return x + y


def both_written(x, y):
    x.add_(y)
    y.mul_(2)
    return x - y


def written_and_read_before(x, y):
    old = x + y
    x.mul_(2)
    return old, x.sum()


def written_from_the_other(x, y):
    x.copy_(y)
    y.zero_()
    return x * 3


def written_part(x, y):
    x[0].add_(y[1])
    return x * 2


def written_through_chain(x, y):
    x.view(3, 2).t()[1].mul_(y.sum())
    return x + 1


def written_in_parts(x, y):
    for index in range(2):
        x[index].add_(y[0])
    return x * 2


def written_shifted(x, y):
    flat = x.view(-1)
    flat[1:].copy_(flat[:-1].clone())
    return x + y


MUTATIONS = (
    first_written,
    both_written,
    written_and_read_before,
    written_from_the_other,
    written_part,
    written_through_chain,
    written_in_parts,
    written_shifted,
)


@pytest.mark.parametrize("grads", [(False, False), (True, True), (True, False), (False, True)], ids=str)
def test_mutation_and_gradients(grads):
    """A write is lost, doubled, or in the wrong mode, for one of the ways in which two arguments are differentiable."""
    leaves = [[matrix(grad=grad) for grad in grads] for _ in MUTATIONS]
    assert_same(beside(*MUTATIONS), *leaves, prepare=cloned, then=write_first_argument_of_each, train=any(grads))


def view_returned(x):
    x.mul_(2)
    return x.view(-1), x + 1


def part_of_view_returned(x):
    x.t().mul_(2)
    return x.t()[1:], x.view(6)[::2]


def itself_and_view_returned(x):
    x.add_(1)
    return x, x[0], x * 2


def view_made_before_the_write(x):
    row = x[0]
    x.mul_(2)
    return row, row + 1


def view_written_and_returned(x):
    row = x[0]
    row.mul_(2)
    return row, x * 1


def views_of_result_and_argument(x):
    x.mul_(2)
    y = x.t() + 1
    return x.t(), y.t(), y


def test_views_of_mutated_argument():
    """A view that is returned shows the old value, lies elsewhere, or takes its gradient past the write."""
    functions = (
        view_returned,
        part_of_view_returned,
        itself_and_view_returned,
        view_made_before_the_write,
        view_written_and_returned,
        views_of_result_and_argument,
    )
    leaves = [[matrix(grad=True)] for _ in functions]
    assert_same(beside(*functions), *leaves, prepare=cloned, then=write_first_of_each)


@pytest.mark.parametrize("compiler", [None, without_dynamo], ids=["dynamo", "plain"])
def test_duplicates(compiler):
    """One tensor given twice, which is only read, is taken for two: half of its gradient is lost."""

    def twice(x):
        copy = x.clone()
        return copy, copy

    assert_same(lambda x, y: x * y, vector(grad=True), prepare=twice, compiler=compiler)


def test_duplicate_of_three():
    """Two of three arguments are one: positions after the removed one shift."""

    def fn(x, y, z):
        y.mul_(2)
        return x + y * z, z - x

    def prepare(x, z):
        copy = x.clone()
        return copy, copy, z.clone()

    assert_same(fn, vector(grad=True), vector(grad=True), prepare=prepare, compiler=without_dynamo)


BASES = {
    "overlapping": lambda x: (x[:4], x[2:]),
    "offset": lambda x: (x[1:5], x[2:6]),
    "whole and part": lambda x: (x, x[1:5].view(2, 2)[0, :1]),
    "strided": lambda x: (x[::2], x[1:4]),
    "two-dimensional": lambda x: (x.view(2, 3)[:, 1:], x.view(2, 3)[1, 1:]),
}


@pytest.mark.parametrize("prepare", BASES.values(), ids=BASES.keys())
def test_synthetic_base(prepare):
    """A write to one argument does not show in another that overlaps it, or its gradient goes to the wrong element."""

    def fn(x, y):
        x.mul_(2)
        return x.sum() + y * 3

    assert_same(fn, vector(grad=True), prepare=lambda x: prepare(x.clone()))


@TRAINING
def test_synthetic_base_both_written(training):
    """Two writes through overlapping arguments are applied in the wrong order, or one over the other."""

    def fn(x, y):
        x.add_(1)
        y.mul_(2)
        x.mul_(y.sum())
        return x * 1

    assert_same(fn, vector(grad=training), prepare=lambda x: BASES["overlapping"](x.clone()), train=training)


@TRAINING
def test_synthetic_base_beside_an_independent_argument(training):
    """The third argument, which shares nothing, is taken into the group or gets the gradient of a member."""

    def fn(x, w, y):
        x.mul_(2)
        return x * w[:4] + y

    leaves = vector(grad=training), vector(grad=training)
    assert_same(fn, *leaves, prepare=lambda x, w: (x.clone()[:4], w, x.clone()[2:]), train=training)

    def sharing(x, w):
        base = x.clone()
        return base[:4], w, base[2:]

    assert_same(fn, *leaves, prepare=sharing, train=training)


@pytest.mark.parametrize("dtypes", [(torch.int32, torch.float32), (torch.float32, torch.uint8)], ids=str)
def test_synthetic_base_of_other_dtypes(dtypes):
    """Memory that two arguments show as different element types is converted rather than reinterpreted."""

    def fn(x, y):
        x.add_(1)
        return y.clone(), x * 2

    def prepare(x):
        return x.view(dtypes[0]), x.view(dtypes[1])

    assert_same(fn, torch.arange(8.0), prepare=prepare, train=False)


def test_synthetic_base_of_a_detached_tensor():
    """Overlapping arguments of which one is differentiable: the gradient leaks through the other, or is lost."""

    def fn(x, y):
        y.mul_(2)
        return x + 1, y * 1

    def prepare(x):
        base = x.clone()
        return base[:4], base.detach()[2:]

    assert_same(fn, vector(grad=True), prepare=prepare)


@TRAINING
def test_overlap_in_some_calls_only(training):
    """The program of the first call's sharing is run for another's."""

    def fn(x, y):
        x.mul_(2)
        return x + y

    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    shifted, same = (lambda x: (x[2:], x[:4])), (lambda x: (x, x))
    for prepare in (BASES["overlapping"], lambda x: (x[:4], x.clone()[2:]), shifted, same, lambda x: (x, x.clone())):
        found = []
        for function in (fn, compiled):
            leaf = vector(grad=training)
            base = leaf.clone()
            result = function(*prepare(base))
            (result.sum() + base.sum()).backward() if training else None
            found.append((result.detach(), base.detach(), leaf.grad))
        torch.testing.assert_close(found[1], found[0])


def transposed_and_written(x):
    x.t_()
    x.mul_(2)
    return x, x + 1


def written_between(x):
    x.unsqueeze_(0)
    x.add_(1)
    x.squeeze_(0)
    return x * 2


@pytest.mark.parametrize("fn", [transposed_and_written, written_between])
def test_metadata_and_aliases(fn):
    """Views are taken of the argument as it was before its sizes changed, or the values written that way."""
    assert_same(fn, matrix(grad=True), prepare=cloned, compiler=without_dynamo)


@TRAINING
def test_metadata_of_one_alias(training):
    """A change of one argument's sizes reaches another one that shares its memory; with gradients it runs eagerly."""

    def fn(x, y):
        x.t_()
        y.mul_(2)
        return x + 1

    def prepare(x):
        base = x.clone()
        return base, base.view(6)[1:3]

    ways = {"compiler": without_dynamo, "train": training, "eager": training, "graphs": int(not training)}
    assert_same(fn, matrix(grad=training), prepare=prepare, **ways)


def written_intermediate(x):
    y = x * 2
    y[0].add_(1)
    return y, y[0]


def written_view_of_intermediate(x):
    y = x * 2
    row = y[0]
    row.mul_(3)
    return row, y.t()


def argument_and_intermediate(x):
    y = x * 2
    return x.t(), y.t(), x, y


def test_bases_that_are_intermediates():
    """Results that alias get memory of their own, or that of another intermediate of the same type."""
    functions = written_intermediate, written_view_of_intermediate, argument_and_intermediate
    leaves = [[matrix(grad=True)] for _ in functions]
    assert_same(beside(*functions), *leaves, prepare=cloned, then=write_first_of_each)


def detached_and_written(x):
    y = x * 2
    y.detach().mul_(3)
    return y + 1, y.detach()


def detached_inside(x):
    return x.sin() * x.sin().detach(), x.detach()


def test_detached():
    """A detached tensor has a history, or no longer shares memory with what it was detached from."""
    assert_same(beside(detached_and_written, detached_inside), *([matrix(grad=True)] for _ in range(2)))


def buffer_under_no_grad(x, buffer):
    with torch.no_grad():
        buffer.mul_(0.9).add_(x.sum(0), alpha=0.1)
    return x - buffer


def buffer_of_detached(x, buffer):
    buffer.copy_(x.detach().mean(0))
    return x * buffer


@TRAINING
def test_written_without_autograd(training):
    """A write that autograd must not see is recorded, or one of its counters does not move."""
    arguments = [[matrix(grad=training), torch.ones(3)] for _ in range(2)]
    assert_same(beside(buffer_under_no_grad, buffer_of_detached), *arguments, train=training)


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(2))
        self.register_buffer("first", self.count[:1])

    def forward(self, x):
        self.count += x.detach().sum()
        return x * self.first


def test_buffers_that_alias():
    """A buffer's update does not show in another buffer that is a view of it."""
    eager, compiled = Counter(), Counter()
    calls = eager, torch.compile(compiled, backend="dovetail", fullgraph=True)
    for _ in range(2):
        results = []
        for call in calls:
            x = matrix(grad=True)
            result = call(x + 1)
            result.sum().backward()
            results.append((result, x.grad))
        torch.testing.assert_close(results[1], results[0])
        assert compiled.first.tolist() == eager.first.tolist() == compiled.count[:1].tolist()
        assert compiled.count._version == eager.count._version
        assert compiled.first._base is compiled.count


@pytest.mark.parametrize("layout", ["expanded", "transposed", "sliced", "missing"])
def test_tangents(layout):
    """The backward reads a gradient as if it lay in memory like the result, or needs one that nobody has."""

    def fn(x):
        y = x.sin()
        return y, (x * 3).t()

    found = []
    for function in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        x = matrix(grad=True)
        first, second = function(x)
        tangents = {
            "expanded": torch.ones(1, 1).expand(2, 3),
            "transposed": torch.arange(6.0).view(3, 2).t(),
            "sliced": torch.arange(24.0).view(4, 6)[::2, ::2],
            "missing": None,
        }
        if tangents[layout] is None:
            second.backward(torch.ones(3, 2))
        else:
            torch.autograd.backward([first, second], [tangents[layout], tangents[layout].t()])
        found.append(x.grad)
    torch.testing.assert_close(found[1], found[0])


@pytest.mark.parametrize("needed", [(True, False), (False, True)], ids=["first", "second"])
def test_one_gradient_of_two(needed):
    """A gradient that nobody asked for is computed into the wrong place, or stops the one that was."""

    def fn(x, y):
        x.mul_(2)
        return (x * y).view(-1), y + 1

    assert_same(fn, *(matrix(grad=grad) for grad in needed), prepare=cloned)


@TRAINING
def test_empty_and_without_dimensions(training):
    """Tensors without elements or dimensions are skipped: their mutation, their gradient, or their view."""

    def fn(x, scalar):
        x.add_(scalar)
        scalar.mul_(2)
        return x.view(-1), scalar.view(1), x.sum()

    leaves = torch.zeros(0, 3).requires_grad_(training), torch.tensor(2.0).requires_grad_(training)
    assert_same(fn, *leaves, prepare=cloned, train=training)


def test_results_that_are_constants_or_arguments_of_other_types():
    """Integer arguments that are written take a tangent, or constants are handed out without a copy."""

    def fn(x, indices):
        indices.add_(1)
        return x[indices], indices, torch.ones(2), indices.view(3, 1)

    assert_same(fn, vector(grad=True), torch.tensor([0, 2, 1]), prepare=lambda x, i: (x, i.clone()))
