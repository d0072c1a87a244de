"""Rows of open length whose reductions go by blocks, in lanes: the kernels, and that each number is taken once."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest
import torch
from torch.nn import functional

import dovetail
from dovetail.backends import target
from dovetail.backends.compiling.batches import BatchCompiler
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


def rows_of_all(*tensors: torch.Tensor) -> list[torch.Tensor]:
    """`rows` of each three tensors."""
    return [each for start in range(0, len(tensors), 3) for each in rows(*tensors[start : start + 3])]


# Of products, means one after the other and side by side, extrema beside sums, and all rows at once.
WAYS_TO_READ = (1, 3, 6, 7, 8)


def each_way_to_read(*tensors: torch.Tensor) -> list[torch.Tensor]:
    """Of `rows` of each three tensors, what between them reads rows in each way, and goes over them again."""
    found = [rows(*tensors[start : start + 3]) for start in range(0, len(tensors), 3)]
    return [each[way] for each in found for way in WAYS_TO_READ]


def check(
    compiled: Callable[..., list[torch.Tensor]],
    tensors: Sequence[torch.Tensor],
    which: str,
    computed: Callable[..., list[torch.Tensor]] = rows_of_all,
) -> None:
    """Results are at most three times as far from double precision as eager's."""
    exact = computed(*(each.double() for each in tensors))
    for index, (result, eager, right) in enumerate(zip(compiled(*tensors), computed(*tensors), exact, strict=True)):
        assert result.dtype == eager.dtype
        error, allowed = (abs(each.double() - right).max() for each in (result, eager))
        assert error <= 3 * allowed + torch.finfo(eager.dtype).eps * abs(right).max(), f"result {index} of {which}"


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
        check(compiled, tensors, f"rows of {length}")
    assert dovetail.stats().graphs == 1
    for special in (torch.inf, -torch.inf, torch.nan):
        tensors = [torch.randn(9, 300) for _ in range(2)] + [torch.randn(300)]
        for place in (0, 130, 299):
            tensors[0][place % 9, place] = special
        for result, eager in zip(compiled(*tensors), rows(*tensors), strict=True):
            assert torch.equal(result.isnan(), eager.isnan())
            assert torch.equal(result.isinf(), eager.isinf())


def test_rows_that_vectors_do_not_fill(monkeypatch: pytest.MonkeyPatch):
    """Catches such rows of known length that go one by one, of as many rows as known and of others, taken wrongly."""
    monkeypatch.setattr(BatchCompiler, "_compile_plainer", lambda *asked: pytest.fail(asked[-1].failure))
    torch._dynamo.reset()
    torch.manual_seed(0)
    compiled = torch.compile(rows_of_all, backend="dovetail", options={"strict": True})
    dovetail.stats(reset=True)
    for counts in (((1 << 19) // 130 + 1, (1 << 19) // 1000 + 1), (5, 6), (64, 65)):
        shapes = [(count, length) for count, length in zip(counts, (130, 1000), strict=True)]
        tensors = [torch.randn(each) for shape in shapes for each in (shape, shape, shape[1:])]
        check(compiled, tensors, f"{counts} rows")
    assert dovetail.stats().graphs == 2


# Tensors of one shape whose rows do not lie one behind the other.
LAID_OUT: dict[str, Callable[[int, int, torch.dtype], torch.Tensor]] = {
    "transposed": lambda count, length, dtype: torch.randn(length, count, dtype=dtype).t(),
    "sliced": lambda count, length, dtype: torch.randn(count, length + 3, dtype=dtype)[:, 2:-1],
    "stepped": lambda count, length, dtype: torch.randn(count, 2 * length, dtype=dtype)[:, ::2],
    "expanded": lambda count, length, dtype: torch.randn(count, 1, dtype=dtype).expand(count, length),
}


@pytest.mark.parametrize(
    ("threads", "dtype", "pairs"),
    # Rows of both tensors are reduced, so that one program for each pair shows two ways.
    [
        pytest.param(2, torch.float32, (("transposed", "stepped"), ("sliced", "expanded")), id="two threads"),
        pytest.param(1, torch.bfloat16, (("sliced", "stepped"),), id="half precision", marks=pytest.mark.slow),
    ],
)
def test_rows_lie_in_other_ways(threads: int, dtype: torch.dtype, pairs: Sequence[tuple[str, str]]):
    """Catches rows that are read as if they were whole, shared wrongly, or added up as bfloat16."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        torch._dynamo.reset()
        torch.manual_seed(0)
        compiled = torch.compile(each_way_to_read, backend="dovetail", dynamic=True)
        for count, length in ((33, 131), (300, 400)):
            tensors = []
            for more, names in enumerate(pairs):
                tensors += [LAID_OUT[name](count + more, length + more, dtype) for name in names]
                tensors.append(torch.randn(2 * (length + more), dtype=dtype)[::2])
            check(compiled, tensors, f"{pairs} rows", each_way_to_read)
    finally:
        torch.set_num_threads(before)


def test_rows_without_numbers():
    """Catches a row of a slice that is empty, or one number long, taken for one that has a block."""

    def short(x: torch.Tensor) -> list[torch.Tensor]:
        y = x[:, 2:]
        return [torch.softmax(y, -1), torch.log_softmax(y, -1), y.sum(-1), torch.exp(y).sum(-1)]

    torch._dynamo.reset()
    torch.manual_seed(0)
    compiled = torch.compile(short, backend="dovetail", dynamic=True)
    for length in (300, 5, 3, 2, 131):
        x = torch.randn(7, length)
        for result, eager in zip(compiled(x), short(x), strict=True):
            torch.testing.assert_close(result, eager)
