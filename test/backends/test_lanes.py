"""Rows of open length whose reductions go by blocks, in lanes: the kernels, and that each number is taken once."""

from functools import partial

import pytest
import torch
from torch.nn import functional

import dovetail
from dovetail.backends import target
from dovetail.backends.batches import BatchCompiler
from dovetail.backends.target import CpuTarget
from dovetail.backends.worker.blocks import cut_into_blocks

KERNEL = """
#m = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
module {
  func.func @kernel(%x: tensor<?x?xTYPE>, %y: tensor<?xTYPE>, %start: TOTAL, %rows: tensor<?xTOTAL>,
      %whole: tensor<?x?xTYPE>) -> tensor<?xTOTAL> {
    %zero = arith.constant 0.0 : TOTAL
    %0 = linalg.fill ins(START : TOTAL) outs(%rows : tensor<?xTOTAL>) -> tensor<?xTOTAL>
    %1 = linalg.generic {indexing_maps = [#m, #r, #m], iterator_types = ["parallel", "parallel"]}
        ins(%x, %y : tensor<?x?xTYPE>, tensor<?xTYPE>) outs(%whole : tensor<?x?xTYPE>) {
    ^bb0(%a: TYPE, %b: TYPE, %c: TYPE):
      %s = arith.subf %a, %b : TYPE
      linalg.yield %s : TYPE
    } -> tensor<?x?xTYPE>
    %2 = linalg.generic {indexing_maps = [#m, #r], iterator_types = ["parallel", "reduction"]}
        ins(%1 : tensor<?x?xTYPE>) outs(%0 : tensor<?xTOTAL>) {
    ^bb0(%a: TYPE, %b: TOTAL):
      BODY
    } -> tensor<?xTOTAL>
    return %2 : tensor<?xTOTAL>
  }
}
"""
SUM = "%w = arith.extf %a : TYPE to TOTAL\n %s = arith.addf %w, %b : TOTAL\n linalg.yield %s : TOTAL"
LARGEST = "%s = arith.maximumf %a, %b : TOTAL\n linalg.yield %s : TOTAL"


def edited(body: str, type_: str = "f32", total: str = "f64", start: str = "%zero") -> str:
    text = KERNEL.replace("BODY", body).replace("TYPE", type_).replace("TOTAL", total).replace("START", start)
    return cut_into_blocks(text.encode()).decode()


def test_rows_are_reduced_in_lanes():
    """Catches terms that another loop computes for a whole row, lanes taken together in each step, a start added up."""
    text = edited(SUM)
    assert text.count("tensor.expand_shape") == 1
    assert text.count("tensor.extract_slice") == 10  # the vectors of a block, all blocks, and the rest
    assert text.count("arith.subf") == 9  # of each vector's term, and of the rest's
    assert text.count("arith.extf") == 2
    assert "vector_common_parallel = [1, 0, 0], vector_reduction = [0, 1, 0]>" in text
    assert "distribution = [32, 0], vector_common_parallel = [1, 0], vector_reduction = [0, 16]>" in text
    assert "tensor.expand_shape" in edited(LARGEST, total="f32")
    assert "tensor.expand_shape" not in edited(SUM, start="%start")
    assert "tensor.expand_shape" not in edited(SUM, type_="f16", total="f32")
    assert "tensor.expand_shape" not in edited(LARGEST, type_="f64", total="f64")


LENGTHS = (*range(2, 71), 127, 128, 129, 131, 191, 255, 256, 257, 320, 384, 509, 512, 640, 1000, 1024, 1031, 2053, 4096)


def rows(x: torch.Tensor, y: torch.Tensor, weight: torch.Tensor) -> list[torch.Tensor]:
    """What takes rows together in one way or in several, one after the other or side by side, or goes over them."""
    mean = x.mean(-1, keepdim=True)
    return [
        torch.softmax(x, -1),
        torch.softmax(x * y, -1) * weight,
        torch.log_softmax(x, -1),
        functional.layer_norm(x, x.shape[-1:], weight, weight),
        x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight,
        torch.exp(x - x.amax(-1, keepdim=True)).sum(-1),
        ((x - mean) * (y - mean)).sum(-1),
        x - x.amin(-1, keepdim=True) + y.sum(-1, keepdim=True),
        x.sum(),
    ]


@pytest.mark.parametrize("cpu", ["host", "haswell"])
def test_every_number_is_taken_once(cpu: str, monkeypatch: pytest.MonkeyPatch):
    """Catches lanes, a block, the rest or a row that is left out, taken twice, or read once it is overwritten."""
    monkeypatch.setitem(target.TARGETS, "cpu", partial(CpuTarget, cpu=cpu))
    monkeypatch.setattr(BatchCompiler, "_compile_plainer", lambda *asked: pytest.fail(asked[-1].failure))
    torch._dynamo.reset()
    torch.manual_seed(0)
    compiled = torch.compile(rows, backend="dovetail", options={"strict": True}, dynamic=True)
    dovetail.stats(reset=True)
    for length in LENGTHS:
        tensors = [torch.randn(2 + length * 7 % 40, length) for _ in range(2)] + [torch.randn(length)]
        exact = rows(*(each.double() for each in tensors))
        for index, (result, eager, right) in enumerate(zip(compiled(*tensors), rows(*tensors), exact, strict=True)):
            error, allowed = (abs(each.double() - right).max() for each in (result, eager))
            bound = 3 * allowed + torch.finfo(torch.float32).eps * abs(right).max()
            assert error <= bound, f"result {index} of rows of {length}"
    assert dovetail.stats().graphs == 1
    for special in (torch.inf, -torch.inf, torch.nan):
        tensors = [torch.randn(9, 300) for _ in range(2)] + [torch.randn(300)]
        for place in (0, 130, 299):
            tensors[0][place % 9, place] = special
        for result, eager in zip(compiled(*tensors), rows(*tensors), strict=True):
            assert torch.equal(result.isnan(), eager.isnan())
            assert torch.equal(result.isinf(), eager.isinf())


@pytest.mark.parametrize("length", [130, 1000])
def test_rows_that_vectors_do_not_fill(length: int, monkeypatch: pytest.MonkeyPatch):
    """Catches such rows of known length that go one by one, of as many rows as known and of others, taken wrongly."""
    monkeypatch.setattr(BatchCompiler, "_compile_plainer", lambda *asked: pytest.fail(asked[-1].failure))
    torch._dynamo.reset()
    torch.manual_seed(0)
    compiled = torch.compile(rows, backend="dovetail", options={"strict": True})
    dovetail.stats(reset=True)
    for count in ((1 << 19) // length + 1, 5, 64):
        tensors = [torch.randn(count, length) for _ in range(2)] + [torch.randn(length)]
        exact = rows(*(each.double() for each in tensors))
        for result, eager, right in zip(compiled(*tensors), rows(*tensors), exact, strict=True):
            error, allowed = (abs(each.double() - right).max() for each in (result, eager))
            assert error <= 3 * allowed + torch.finfo(torch.float32).eps * abs(right).max()
    assert dovetail.stats().graphs == 2
