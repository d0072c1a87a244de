"""Softmax and its logarithm through IREE, of rows of every kind of length and number."""

from typing import Any

import pytest
import torch
from torch.nn import functional
from torch_mlir import ir

from dovetail import compiler

SHAPES = ((1, 7), (3, 1), (2, 3, 5), (50, 65), (97, 64), (100, 77), (50, 1000), (31, 1003), (2, 2, 4097), (2, 16400))


def test_rows_sum_up_to_one() -> None:
    """Catches rows added up over the wrong elements, in too low a precision, or of which the rest is left out."""
    torch.manual_seed(0)
    inputs = [torch.randn(shape) * 3 for shape in SHAPES]

    def both(*inputs: torch.Tensor) -> list[torch.Tensor]:
        return [of(x, -1) for x in inputs for of in (functional.softmax, functional.log_softmax)]

    results = torch.compile(both, backend="dovetail", options={"strict": True})(*inputs)
    exact = both(*(x.double() for x in inputs))
    for result, eager, right in zip(results, both(*inputs), exact, strict=True):
        assert result.stride() == eager.stride()
        error, allowed = (result - right).abs().max(), 3 * (eager - right).abs().max()
        assert error <= allowed + 2**-24 * right.abs().max(), tuple(right.shape)


@pytest.mark.parametrize("shape", [(100, 260), (4, 25, 6136)], ids=str)
def test_pairs_of_rows_are_one_kernel(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches rows that go by two in a loop of their own, that fit on no stack, or that are cut at their ends."""
    modules: list[str] = []
    load = compiler.load_program

    def keep(module: ir.Module, *others: Any) -> Any:
        modules.append(str(module))
        return load(module, *others)

    monkeypatch.setattr(compiler, "load_program", keep)
    x = torch.randn(shape) * 3
    result = torch.compile(torch.softmax, backend="dovetail", options={"strict": True})(x, -1)
    assert 'dovetail.variant = "rows-by-twos"' in modules[0]
    assert modules[0].count('"dovetail.dispatch"(') == 1
    exact, eager = torch.softmax(x.double(), -1), torch.softmax(x, -1)
    assert (result - exact).abs().max() <= 3 * (eager - exact).abs().max()
