"""Arguments of open sizes that lie in one another's memory, one of them written."""

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import dovetail


def _rows(count: int, *length: int) -> torch.Tensor:
    return torch.arange(float(count * (length or (1,))[0])).reshape(count, *length)


def _write_first(x, y):
    x.mul_(2)
    return x + 1, y + 1


def _write_second(x, y):
    y.mul_(2)
    return x + 1, y + 1


PROGRAMS = {
    "twice": (_write_first, lambda n: (rows := _rows(n, 3), rows), 1),
    "row": (_write_first, lambda n: (rows := _rows(n, 3), rows[1]), 1),
    "column": (_write_second, lambda n: (rows := _rows(n, 3), rows[:, 1]), 1),
    "flat": (_write_second, lambda n: (rows := _rows(n, 3), rows.view(-1)), 1),
    "transposed": (_write_second, lambda n: (rows := _rows(n, 3), rows.t()), 1),
    "moved": (_write_first, lambda n: ((memory := _rows(n + 2))[:n], memory[2:]), 1),
    "strided": (_write_first, lambda n: ((memory := _rows(2 * n + 6))[::2], memory[2:]), 1),
    "of another type": (_write_first, lambda n: (rows := _rows(n, 3), rows.view(torch.int32)), 1),
    "one after the other": (_write_first, lambda n: ((memory := _rows(2 * n))[:n], memory[n:]), 1),
    "interleaved": (_write_first, lambda n: ((memory := _rows(2 * n))[::2], memory[1::2]), 1),
    "columns apart": (_write_first, lambda n: ((rows := _rows(n, n + 3))[:, :2], rows[:, 2:4]), 1),
    # Of 5 columns the two are apart, of 7 and more they are not: both programs are for many sizes.
    "columns apart, then not": (_write_first, lambda n: ((rows := _rows(3, 15))[:, :n], rows[:, 6:]), 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_program_for_sizes_that_lie_alike(op_by_op, name):
    """A write is not seen in another argument, or is where that only was of the first call's size; or each size has a
    program of its own."""
    function, make, graphs = PROGRAMS[name]
    compiled = torch.compile(function, backend="dovetail", dynamic=True, fullgraph=True)
    dovetail.stats(reset=True)
    for size in (5, 7, 12, 4):
        arguments, twins = make(size), make(size)
        results, expected = compiled(*arguments), function(*twins)
        torch.testing.assert_close((results, arguments), (expected, twins), rtol=0, atol=0)
    stats = dovetail.stats()
    assert not stats.specialised
    assert not stats.eager
    assert stats.graphs + stats.variants == graphs


def test_through_regions():
    """IREE's code of open sizes reads an argument before another one's write reaches it."""
    compiled = torch.compile(_write_first, backend="dovetail", dynamic=True, fullgraph=True)
    for size in (5, 1000, 64):
        memory, twin = _rows(size + 2), _rows(size + 2)
        results, expected = compiled(memory[:size], memory[2:]), _write_first(twin[:size], twin[2:])
        torch.testing.assert_close((*results, memory), (*expected, twin), rtol=0, atol=0)


def test_gradients_take_the_same_way(op_by_op):
    """The gradient of what both arguments are views of misses one of them, or is of the first call's size."""
    compiled = torch.compile(lambda x, y: (x.mul_(2), x * y)[1], backend="dovetail", dynamic=True, fullgraph=True)
    dovetail.stats(reset=True)
    for size in (4, 7, 12):
        gradients = []
        for function in (compiled, lambda x, y: x.mul_(2) * y):
            leaf = _rows(3 * size).requires_grad_()
            whole = (leaf * 1).view(size, 3)
            function(whole, whole[1]).sum().backward()
            gradients.append(leaf.grad)
        torch.testing.assert_close(*gradients, rtol=0, atol=0)
    stats = dovetail.stats()
    assert not stats.specialised
    assert stats.graphs == 1


def test_another_distance_is_another_program(op_by_op):
    """The first call's distance is taken for that of all: rows of another length lie elsewhere."""
    compiled = torch.compile(_write_first, backend="dovetail", dynamic=True, fullgraph=True)
    dovetail.stats(reset=True)
    for size in (4, 7, 5):
        rows, twins = _rows(3, size), _rows(3, size)
        results, expected = compiled(rows, rows[1]), _write_first(twins, twins[1])
        torch.testing.assert_close((*results, rows), (*expected, twins), rtol=0, atol=0)
    stats = dovetail.stats()
    assert not stats.eager
    assert (stats.graphs, stats.variants) == (3, 2)


def test_offset_that_is_a_size(op_by_op: None):
    """Catches an offset that becomes a number while the IR is built, after types that leave the same size open."""
    base = torch.randn(101, 39)
    x, y = base[1:-1].detach().requires_grad_(), torch.randn(13)
    fn = torch.compile(
        lambda x, y: (x * y.as_strided(y.shape, y.stride()).sum()).sum(), backend="dovetail", dynamic=True
    )
    fn(x, y).backward()
    torch.testing.assert_close(x.grad, y.sum().expand_as(x))


def test_view_of_what_the_graph_does_not_take(op_by_op: None):
    """Catches a question to the sizes of the tensor that an argument is a view of: Dynamo can't guard on these, and
    raises."""

    def fn(x, part):
        return checkpoint(lambda x, part: part.as_strided(part.shape, part.stride()) * 2, x, part, use_reentrant=False)

    compiled = torch.compile(fn, backend="dovetail", dynamic=True)
    for sizes in ((16, 7), (3, 39)):
        x = torch.randn(sizes).t()
        part = x[:, : x.shape[1] // 2]
        torch.testing.assert_close(compiled(x, part), part * 2, rtol=0, atol=0)
