"""Sums of columns of open length: kernels that add up eight terms before they widen one; each term is added up once."""

import pytest
import torch

import dovetail
from dovetail.backends.compiling.batches import BatchCompiler
from dovetail.backends.worker.blocks import cut_into_blocks

KERNEL = """
module {
  func.func @kernel(%x: tensor<?x?xf32>, %wide: tensor<?xf64>, %into: tensor<?xf32>) -> tensor<?xf32> {
    %start = arith.constant START : f64
    %0 = linalg.fill ins(%start : f64) outs(%wide : tensor<?xf64>) -> tensor<?xf64>
    %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (MAP)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%0 : tensor<?xf64>) {
    ^bb0(%a: f32, %b: f64):
      %w = arith.extf %a : f32 to f64
      %s = arith.addf %w, %b : f64
      linalg.yield %s : f64
    } -> tensor<?xf64>
    %2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]} ins(%1 : tensor<?xf64>) outs(%into : tensor<?xf32>) {
    ^bb0(%a: f64, %b: f32):
      %s = arith.truncf %a : f64 to f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    return %2 : tensor<?xf32>
  }
}
"""


def source(map_: str, start: str) -> str:
    return KERNEL.replace("MAP", map_).replace("START", start)


def edited(map_: str, start: str = "0.0") -> str:
    return cut_into_blocks(source(map_, start).encode()).decode()


def test_terms_are_added_up_before_they_are_widened():
    """Catches a term widened by itself, one of half precision that is not, other tiles, and a start counted twice."""
    columns = edited("j, i")
    assert columns.count("arith.extf") == 2
    assert columns.count("tensor.extract_slice") == 9
    assert columns.count("compilation_info = #compilation") == 1
    assert "vector_common_parallel = [32, 0], vector_reduction = [0, 1]>" in columns
    assert "distribution = [32], vector_common_parallel = [32], vector_reduction = [0]>" in columns
    assert "tensor.extract_slice" not in edited("j, i", start="1.0")
    halves = source("j, i", "0.0").replace("f32", "f16")
    assert "tensor.extract_slice" not in cut_into_blocks(halves.encode()).decode()


def test_sums_that_nothing_narrows_are_stored_as_they_are():
    """Catches a kernel whose sums are stored as float64: the edit failed, and all of its region lost its blocks."""
    text = source("j, i", "0.0").replace("return %2 : tensor<?xf32>", "return %1 : tensor<?xf64>")
    text = text.replace("-> tensor<?xf32> {\n    %start", "-> tensor<?xf64> {\n    %start")
    assert b"tensor.extract_slice" not in cut_into_blocks(text.encode())


def sums(x: torch.Tensor, y: torch.Tensor, r: torch.Tensor) -> list[torch.Tensor]:
    """Of rows, of columns, of all, of products; whose terms are infinite, too."""
    of_rows = [x.sum(1), x.mean(-1, True) + 1, (x * r).sum(1)]
    return [*of_rows, x.sum(), (x * 2).sum(0), (x * y).sum(0), (y * r).sum(0) * 2]


def test_every_term_is_added_up_once():
    """Catches the rest, of less than eight terms, or the last of a part's, left out or taken twice."""
    torch.manual_seed(0)
    compiled = torch.compile(sums, backend="dovetail", options={"strict": True}, dynamic=True)
    dovetail.stats(reset=True)
    for rows, length in (
        (1031, 1024),
        (2, 3),
        (7, 8),
        (9, 15),
        (16, 17),
        (63, 64),
        (65, 1000),
        (1000, 1031),
        (128, 127),
    ):
        for special in (0.0, torch.inf, torch.nan):
            x = torch.randn(rows, length)
            x[-1, -1] += special
            tensors = x, torch.randn(rows, length), torch.randn(rows, 1)
            exact = sums(*(each.double() for each in tensors))
            for result, eager, right in zip(compiled(*tensors), sums(*tensors), exact, strict=True):
                finite = right.isfinite()
                assert torch.equal(result[~finite].double().nan_to_num(0), right[~finite].nan_to_num(0))
                if not finite.any():
                    continue
                error, allowed = (abs(each[finite].double() - right[finite]).max() for each in (result, eager))
                assert error <= 3 * allowed + torch.finfo(torch.float32).eps * abs(right[finite]).max()
    assert dovetail.stats().graphs == 1


def test_sums_of_float64_are_added_up_in_float64(monkeypatch: pytest.MonkeyPatch):
    """Catches eight terms of float32 added up where the caller asked for float64, or wants the variance of numbers
    whose sum is too large for float32."""
    monkeypatch.setattr(BatchCompiler, "_compile_plainer", lambda *asked: pytest.fail(asked[-1].failure))
    torch.manual_seed(0)

    def wide(x: torch.Tensor) -> list[torch.Tensor]:
        return [x.sum(0, dtype=torch.float64), x.std(0), x.sum((0, 1), dtype=torch.float64)]

    compiled = torch.compile(wide, backend="dovetail", options={"strict": True}, dynamic=True)
    for scale in (1.0, 1e38):
        x = torch.rand(64, 5, 33) * scale
        total, deviation, of_two = compiled(x)
        torch.testing.assert_close(total, x.double().sum(0), rtol=1e-14, atol=0)
        torch.testing.assert_close(deviation, x.double().std(0).float())
        torch.testing.assert_close(of_two, x.double().sum((0, 1)), rtol=1e-14, atol=0)
