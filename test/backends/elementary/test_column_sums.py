"""Sums of columns beside what takes the same elements: bits, errors, and what is stored between their loops."""

import re

import pytest
import torch
from torch_mlir import ir

import dovetail
from dovetail.backends.elementary.computed_again import compute_again
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import body

SIZES = (16, 32, 32, 32)
DIMS = (0, 1, 2)


def gradient(x: torch.Tensor, y: torch.Tensor, tangent: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Like the gradient of a batch norm behind which numbers are cut off; its two sums, too."""
    kept = torch.where(x * y - tangent <= 0, 0.0, tangent)
    total, product = kept.sum(DIMS), (kept * x).sum(DIMS)
    return kept - total / 7 - x * product, total, product


def elements(x: torch.Tensor, y: torch.Tensor, tangent: torch.Tensor, total: torch.Tensor, product: torch.Tensor):
    """The first of its results, of sums that are known."""
    return torch.where(x * y - tangent <= 0, 0.0, tangent) - total / 7 - x * product


@pytest.fixture(scope="module")
def numbers() -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.randn(SIZES) for _ in range(3)]


def test_what_is_computed_again_has_the_same_bits(numbers: list[torch.Tensor]):
    """Catches decisions and elements that a loop behind sums computes otherwise than the sums' own loop."""
    compiled, *sums = torch.compile(gradient, backend="dovetail")(*numbers)
    alone = torch.compile(elements, backend="dovetail")(*numbers, *sums)
    assert torch.equal(compiled, alone)


def test_errors_are_as_eagers(numbers: list[torch.Tensor]):
    """Catches sums that are added up in a longer row where two go together."""
    compiled, eager = torch.compile(gradient, backend="dovetail")(*numbers), gradient(*numbers)
    precise = gradient(*(each.double() for each in numbers))
    for got, wanted, exact in zip(compiled, eager, precise, strict=True):
        assert (got - exact).abs().max() <= 3 * (wanted - exact).abs().max()


def test_nothing_large_is_stored(numbers: list[torch.Tensor]):
    """Catches a plan that stores elements between its loops, which go through memory twice more then."""
    torch.compile(gradient, backend="dovetail")(*numbers)
    [graph] = dovetail.explain(gradient, *numbers).graphs
    stored = [int(each) for each in re.findall(r'"dovetail.transient"\(\) \{bytes = (\d+)', graph.ir)]
    assert stored
    assert max(stored) < numbers[0].nbytes // 8


def _sums_behind(count: int, results: str = "%sum") -> ir.Module:
    """`count` additions one after the other, a sum of the columns of the last, and what takes both."""
    large, small = "!torch.vtensor<[512,512],f32>", "!torch.vtensor<[512],f32>"
    types = {f"%{count}": large, "%sum": small, "%end": large}
    added = f"torch.aten.add.Tensor {{}}, %x, %one : {large}, {large}, !torch.int -> {large}\n"
    lines = [f"%{number + 1} = {added.format(f'%{number}' if number else '%x')}" for number in range(count)]
    text = f"""
        func.func @r(%x: {large}) -> ({", ".join(types[each] for each in results.split(", "))}) {{
          %one = torch.constant.int 1
          %zero = torch.constant.int 0
          %no = torch.constant.bool false
          %none = torch.constant.none
          {"".join(lines)}
          %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
          %sum = torch.aten.sum.dim_IntList %{count}, %dims, %no, %none
            : {large}, !torch.list<int>, !torch.bool, !torch.none -> {small}
          %end = torch.aten.sub.Tensor %{count}, %sum, %one : {large}, {small}, !torch.int -> {large}
          return {results} : {", ".join(types[each] for each in results.split(", "))}
        }}"""
    return parse_module(text, make_context())


@pytest.mark.parametrize(
    ("count", "results", "is_again"),
    [(3, "%end", True), (17, "%end", False), (2000, "%end", False), (3, "%end, %3", False)],
    ids=["few", "too many", "a deep chain", "stored anyway"],
)
def test_what_is_computed_again(count: int, results: str, is_again: bool):
    """Catches a recursion as deep as a region, and loops that compute again what is stored for another."""
    module = _sums_behind(count, results)
    [function] = module.body.operations
    before = len(body(function))
    compute_again(body(function))
    assert (len(body(function)) > before) == is_again
