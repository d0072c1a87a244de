"""Wrapper subclasses of any size: values, layouts, version counters and gradients are eager's, from one program."""

from collections.abc import Callable

import pytest
import torch
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
from torch.utils._pytree import tree_map_only

import dovetail
from dovetail.errors import EagerWarning

pytestmark = pytest.mark.usefixtures("op_by_op")


class Longer(torch.Tensor):
    """A wrapper around a tensor that has one row more than it says."""

    rows: torch.Tensor

    @staticmethod
    def __new__(cls, rows: torch.Tensor) -> "Longer":
        wrapper = torch.Tensor._make_wrapper_subclass(cls, (rows.shape[0] - 1, rows.shape[1]), dtype=rows.dtype)
        wrapper.rows = rows
        return wrapper

    def __tensor_flatten__(self):
        return ["rows"], None

    @staticmethod
    def __tensor_unflatten__(tensors, _context, _size, _stride):
        return Longer(tensors["rows"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):  # type: ignore[override]  # torch declares no `cls`
        plain_args, plain_kwargs = tree_map_only(Longer, lambda each: each.rows, (args, kwargs or {}))
        return tree_map_only(torch.Tensor, Longer, func(*plain_args, **plain_kwargs))


def two(*shape: int) -> TwoTensor:
    return TwoTensor(torch.randn(shape), torch.randn(shape))


# Each takes wrappers that two numbers make, and gives one wrapper.
OF_ANY_SIZE: dict[str, tuple[Callable, Callable[[int, int], list[torch.Tensor]]]] = {
    "columns": (lambda x: (x * 2).sin(), lambda n, m: [two(n, m)]),
    "both sizes": (lambda x, y: torch.cat([x @ y, x * x.shape[1]], 1), lambda n, m: [two(n, m), two(m, n + 1)]),
    "part": (lambda x: x[1:].cos() * x[:-1], lambda n, m: [two(n + 1, m)]),
    "sum": (lambda x: x.mean(1) + x.shape[0] // 2, lambda n, m: [two(n, m)]),
    "longer": (lambda x: (x * 2).sin(), lambda n, m: [Longer(torch.randn(n + 1, m))]),
    "nested": (lambda x: x.exp() * x, lambda n, m: [TwoTensor(two(n, m), two(n, m))]),
}


@pytest.mark.parametrize("name", OF_ANY_SIZE)
def test_one_program_for_all_sizes(name):
    """Catches a wrapper, or a gradient, that has the sizes of the first call, and a program for each size."""
    function, make = OF_ANY_SIZE[name]
    compiled = torch.compile(function, backend="dovetail", dynamic=True, fullgraph=True)
    dovetail.stats(reset=True)
    for n in range(2, 22):
        given = make(n, 25 - n)
        twins = [_copy(each) for each in given]
        with torch.no_grad():
            _assert_same(compiled(*given), function(*twins))
        for each in (*given, *twins):
            each.requires_grad_()
        results = compiled(*given), function(*twins)
        _assert_same(*results)
        for result in results:
            result.backward(torch.ones_like(result))
        for each, twin in zip(given, twins, strict=True):
            _assert_same(each.grad, twin.grad)
    stats = dovetail.stats()
    assert (stats.graphs, stats.variants) == (2, 0)  # with gradients and without
    assert not stats.specialised
    assert not stats.eager


def test_turned_parts_of_any_size():
    """Catches strides that are those of the first call, or row by row."""
    compiled = torch.compile(lambda x: x.sin() * 3, backend="dovetail", dynamic=True, fullgraph=True)
    dovetail.stats(reset=True)
    for n in range(2, 8):
        x = TwoTensor(torch.randn(9 - n, n).t(), torch.randn(9 - n, n).t())
        _assert_same(compiled(x), x.sin() * 3)
    assert (dovetail.stats().graphs, dovetail.stats().variants, dovetail.stats().specialised) == (1, 0, {})


def test_writes_of_any_size():
    """Catches parts of another call's sizes that are written, and versions that don't move."""

    def function(x, y):
        x.mul_(2)
        return x + y, x

    compiled = torch.compile(function, backend="dovetail", dynamic=True, fullgraph=True)
    dovetail.stats(reset=True)
    for n in (4, 5, 6):
        given = [two(n, 3), two(n, 3)]
        twins = [_copy(each) for each in given]
        result, same = compiled(*given)
        expected, _ = function(*twins)
        assert same is given[0]
        _assert_same(result, expected)
        for each, twin in zip(given, twins, strict=True):
            _assert_same(each, twin)
            assert each._version == twin._version
    assert (dovetail.stats().graphs, dovetail.stats().variants) == (1, 0)


def test_parts_of_other_sizes_than_their_wrapper():
    """Catches a part whose sizes are taken from its wrapper's, and that is read or written past its end."""
    compiled = torch.compile(lambda x: x * 2, backend="dovetail", dynamic=True, fullgraph=True)
    for n, rows in ((4, 4), (5, 5), (9, 2), (6, 6)):
        x = two(n, 3)
        x.a, x.b = torch.randn(rows, 3), torch.randn(rows, 3)
        result = compiled(x)
        assert (result.a.equal(x.a * 2), result.b.equal(x.b * 2)) == (True, True)


def test_nested_tensors():
    """Catches a defect that is reported where a nested tensor, whose rows have no one size to be fixed, is refused."""
    compiled = torch.compile(lambda x: x * 2, backend="dovetail", fullgraph=True)
    rows = [torch.randn(2, 3), torch.randn(4, 3)]
    x = torch.nested.nested_tensor(rows, layout=torch.jagged, requires_grad=True)
    with pytest.warns(EagerWarning, match="a NestedTensor that requires grad"):
        result = compiled(x)
    for got, row in zip(result.unbind(), rows, strict=True):
        torch.testing.assert_close(got, row * 2)


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    """Around clones, which lie as the parts do."""
    if not is_traceable_wrapper_subclass(tensor):
        return tensor.clone()
    names, context = tensor.__tensor_flatten__()
    inner = {name: _copy(getattr(tensor, name)) for name in names}
    return type(tensor).__tensor_unflatten__(inner, context, tensor.size(), tensor.stride())


def _assert_same(got: torch.Tensor, expected: torch.Tensor) -> None:
    """Equal sizes, strides and numbers, of wrappers and of what they hold."""
    assert (type(got), got.shape, got.stride()) == (type(expected), expected.shape, expected.stride())
    if not is_traceable_wrapper_subclass(got):
        torch.testing.assert_close(got, expected)
        return
    for name in got.__tensor_flatten__()[0]:
        _assert_same(getattr(got, name), getattr(expected, name))
