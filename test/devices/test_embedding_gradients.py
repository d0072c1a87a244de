"""Gradients of embeddings on a GPU, which are not sorted by row, against float64."""

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional

import dovetail

COUNT, WIDTH = 3200, 32


def _words(rows: int, way: str) -> torch.Tensor:
    """Indices of rows: all as frequent, as words of a text are (Zipf's law), or all the same."""
    if way == "even":
        return torch.randint(rows, (4, COUNT // 4))
    if way == "same":
        return torch.full((4, COUNT // 4), rows - 2)
    return torch.multinomial(1 / torch.arange(1.0, rows + 1), COUNT, replacement=True).view(4, -1)


def _embed(padding: int | None, scales: bool = False) -> Callable:
    def embed(table: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        return functional.embedding(words, table, padding, scale_grad_by_freq=scales).sin() * 2

    return embed


def _agrees(
    function: Callable,
    table: torch.Tensor,
    words: torch.Tensor,
    *calls: str,
    is_second: bool = False,
    used: int | None = None,
) -> None:
    """Also, that of the ops that gather or scatter in the backward those in `calls` alone ran.

    Eager and float64 are asked for the first `used` rows, of which all words are; the gradients of others are zeros.
    """

    def gradients(compute: Callable, rows: torch.Tensor) -> list[torch.Tensor]:
        leaf = rows.detach().requires_grad_()
        result = compute(leaf, words)
        [first] = torch.autograd.grad(result.square().sum(), leaf, create_graph=is_second)
        return [first.detach(), *(torch.autograd.grad(first.square().sum(), leaf) if is_second else ())]

    exact, eager = gradients(function, table[:used].double()), gradients(function, table[:used])
    dovetail.stats(reset=True)
    ours = gradients(torch.compile(function, backend="dovetail"), table)
    known = ("embedding_dense_backward", "index_add", "index_put")
    found = {name for name in known for op, _ in dovetail.stats().library_calls if f".{name}." in op}
    assert is_second or found == set(calls)
    assert not dovetail.stats().eager
    for got, theirs, true in zip(ours, eager, exact, strict=True):
        floor = torch.finfo(got.dtype).eps * true.norm()
        assert got.dtype is theirs.dtype
        assert used is None or not got[used:].any()
        assert (got[:used] - true).norm() <= 3 * (theirs - true).norm() + floor


@pytest.mark.parametrize("padding", [None, 0, -2])
@pytest.mark.parametrize("rows", [2, 4])
def test_few_rows(rows: int, padding: int | None):
    """Catches a sort of thousands of indices for a table of two rows, a row that gets another one's sum, and a gradient
    of what is padded with."""
    torch.manual_seed(0)
    table, words = torch.randn(rows, WIDTH), torch.randint(rows, (4, COUNT // 4))
    _agrees(_embed(padding), table, words)
    [gradient] = torch.autograd.grad(_embed(padding)(leaf := table.requires_grad_(), words).sum(), leaf)
    assert padding is None or not gradient[padding].any()


def test_many_rows_by_short_numbers():
    """Catches positions of words that are of another type than the words."""
    torch.manual_seed(0)
    _agrees(_embed(None), torch.randn(8000, WIDTH), _words(8000, "even").int(), "index_add")


@pytest.mark.parametrize("way", ["even", "frequent", "same"])
@pytest.mark.parametrize("padding", [None, 3])
@pytest.mark.parametrize("rows", [64, 5000, 8000])
def test_many_rows(rows: int, padding: int | None, way: str):
    """Catches a gradient that is added to a copy, or to what another call left; one of what is padded with; and errors
    that grow where words are frequent, tenfold where the same number is added each time."""
    torch.manual_seed(0)
    table, words = torch.randn(rows, WIDTH), _words(rows, way)
    _agrees(_embed(padding), table, words, "index_add")


def test_second_derivatives():
    """Catches rows added where autograd does not see it."""
    torch.manual_seed(0)
    _agrees(_embed(None), torch.randn(5000, WIDTH), _words(5000, "even"), is_second=True)


@pytest.mark.parametrize("way", ["even", "frequent"])
def test_of_a_tied_table(way: str):
    """Catches rows that are added to what the product's gradient is, before or after it was read, or one by one."""
    torch.manual_seed(0)

    def tied(table: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        return functional.embedding(words, table)[:, :8] @ table.t() / 100

    _agrees(tied, torch.randn(8000, WIDTH), _words(8000, way), "index_add")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64], ids=str)
def test_other_types(dtype: torch.dtype):
    """Catches sums rounded to half precision at each of thousands of steps."""
    torch.manual_seed(0)
    table, words = torch.randn(5000, WIDTH, dtype=dtype), _words(5000, "even")
    _agrees(_embed(None), table, words, "embedding_dense_backward")


def test_what_is_no_number_or_large():
    """Catches an infinite gradient that is no number, or in another row, and a large one that is infinite."""
    torch.manual_seed(0)
    table, words = torch.randn(8000, WIDTH, requires_grad=True), torch.arange(COUNT)
    scale = torch.ones(COUNT, 1)
    scale[:4, 0] = torch.tensor([torch.inf, -torch.inf, torch.nan, 3.4e38])

    def scaled(table: torch.Tensor) -> torch.Tensor:
        return functional.embedding(words, table) * scale

    results = [compute(table) for compute in (scaled, torch.compile(scaled, backend="dovetail"))]
    gradients = [torch.autograd.grad(each, table, torch.ones(COUNT, WIDTH))[0] for each in results]
    assert torch.equal(gradients[0].nan_to_num(5.0), gradients[1].nan_to_num(5.0))


def test_what_stays():
    """Catches few indices, which ATen adds up in two launches, gradients scaled by frequency, and a table so large that
    two sums of its size take longer than a sort."""
    torch.manual_seed(0)
    _agrees(_embed(None), torch.randn(5000, WIDTH), _words(5000, "even")[:, :700], "embedding_dense_backward")
    _agrees(_embed(None, scales=True), torch.randn(5000, WIDTH), _words(5000, "even"), "embedding_dense_backward")
    large = torch.zeros((1 << 21) + 1, WIDTH)
    large[:64] = torch.randn(64, WIDTH)
    _agrees(_embed(None), large, _words(64, "even"), "embedding_dense_backward", used=64)


def test_rows_of_no_numbers():
    """Catches an error while a graph is traced, of sizes that do not tell how many rows there are, and ATen's kernel,
    which reads where no memory is: the process can use its GPU no more."""
    table, words = torch.randn(5000, 0, requires_grad=True), _words(5000, "even")
    dovetail.stats(reset=True)
    result = torch.compile(_embed(None), backend="dovetail")(table, words)
    [gradient] = torch.autograd.grad(result.sum(), table)
    assert gradient.shape == table.shape
    assert not any("embedding_dense_backward" in op for op, _ in dovetail.stats().library_calls)
    assert not dovetail.stats().eager


def test_deterministic_algorithms():
    """Catches sums that are not the same twice though deterministic algorithms were asked for."""
    torch.manual_seed(0)
    table, words = torch.randn(5000, WIDTH), _words(5000, "frequent")
    torch.use_deterministic_algorithms(True)
    try:
        _agrees(_embed(None), table, words, "embedding_dense_backward")
    finally:
        torch.use_deterministic_algorithms(False)
