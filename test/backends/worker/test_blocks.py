"""Loops that go by blocks: the forms that there are, and that each computes what eager does."""

from functools import partial
from typing import Any

import pytest
import torch
from compiled_regions import compile_regions
from torch_mlir import ir

import dovetail
from dovetail import compiler
from dovetail.backends import target
from dovetail.backends.compiling import iree_worker
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.target import CpuTarget
from dovetail.backends.worker import open_rows
from dovetail.backends.worker.blocks import blocks, columns, whole_rows
from dovetail.backends.worker.loops import OPEN, Loops
from dovetail.backends.worker.tiles import Blocks

ORDERS = {
    (257, 331): (1, 0),
    (8209, 17): (1, 0),
    (130, 5, 201): (1, 2, 0),
    (2, 40, 3, 300): (0, 2, 3, 1),
    (33, 40, 51): (2, 1, 0),
    (1, 260, 1, 300): (3, 0, 2, 1),
}


def test_forms():
    """Catches blocks along a loop that no tensor lies along, or of more numbers than the CPU has registers for."""

    def form(inner: set[int], *, bits: int = 32, operations: int = 1, vector: int = 512, reduces: bool = False):
        return blocks(Loops((8, 300, 400), (False, False, reduces), frozenset(inner), bits, bits), operations, vector)

    assert form({1, 2}) == Blocks((1, 32, 512), (1, 16, 16))
    assert form({0, 2}, bits=64) == Blocks((32, 1, 512), (8, 1, 8))
    assert form({1, 2}, operations=40) == Blocks((1, 32, 512), (1, 8, 16))
    assert form({1, 2}, operations=40, bits=64, vector=256) == Blocks((1, 32, 512), (1, 4, 4))
    assert not any((form({2}), form({1}), form({0, 1}), form({0, 1, 2}), form({1, 2}, reduces=True)))


def test_lengths_of_rows_that_go_one_by_one():
    """Catches rows for which a region asks for such tiles and does not get them: a worker process knows no pass."""
    assert open_rows.LENGTHS == target.SINGLE_ROWS


def test_forms_of_columns():
    """Catches columns added up across rows of memory, along a loop that reduces, or most of a short row alone."""

    def form(inner: set[int], reduced: tuple[bool, ...] = (False, False, True), vector: int = 512, length: int = 0):
        return columns(Loops((0, length, 0), reduced, frozenset(inner), 64, 64), vector)

    found = form({1})
    assert found == Blocks((1, 64, 0), (1, 64, 0), (0, 0, 1))
    assert "distribution = [1, 64, 0], vector_common_parallel = [1, 64, 0], vector_reduction = [0, 0, 1]" in (
        found.attribute()
    )
    assert form({0}, (False, True, True), vector=256) == Blocks((32, 0, 0), (32, 0, 0), (0, 1, 1))
    assert form({1}, length=128) == form({1}, length=300) == found
    assert not any((form({2}), form({0, 1}), form(set()), form({1}, (False,) * 3), form({1}, length=100)))


def test_forms_of_rows():
    """Catches rows that are cut where they need not be, that fill no vectors, or along which a tensor doesn't lie."""

    def form(length: int, inner: int = 2, *, bits: int = 32, vector: int = 512, reduces: bool = False):
        loops = Loops((8, 300, length), (False, False, reduces), frozenset({inner}), bits, bits)
        return whole_rows(loops, vector)

    found = form(1000)
    assert found == Blocks((1, 16, 1000), (1, 1, 64))
    assert "distribution = [1, 16, 1000], vector_common_parallel = [1, 1, 64]>" in found.attribute()
    assert form(64) == Blocks((1, 256, 64), (1, 1, 64))
    assert form(30000, bits=64, vector=256) == Blocks((1, 4, 4096), (1, 1, 16))
    assert form(OPEN) == Blocks((1, 16, 1024), (1, 1, 64))
    assert not any((form(100), form(10), form(1000, 1), form(1000, reduces=True)))
    assert whole_rows(Loops((1 << 20,), (False,), frozenset({0}), 32, 32), 512) is None


REGION = """
!x = !torch.vtensor<[256,512],f32>
!y = !torch.vtensor<[512,256],f32>
module {
  func.func @main(%x: !x, %y: !y, %into: !torch.tensor<[512,256],f32>) {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %0 = torch.aten.permute %x, %order : !x, !torch.list<int> -> !y
    %1 = torch.aten.mul.Tensor %0, %y : !y, !y -> !y
    torch.overwrite.tensor.contents %1 overwrites %into : !y, !torch.tensor<[512,256],f32>
    return
  }
}
"""


@pytest.mark.usefixtures("remembered_runs")
def test_what_has_no_blocks_in_the_end_is_copied_before(monkeypatch: pytest.MonkeyPatch):
    """Catches a region lost since the worker failed, and one that reads single elements where no phase is edited."""
    asked = iree_worker.worker.ask

    def ask(what, text, timeout):
        if what["task"] == "cut into blocks":
            raise OSError("exit status 1")
        return asked(what, text, timeout)

    def transposed(plans: bool = True) -> Any:
        return compile_regions({"a": REGION}, CpuTarget(by_blocks=True), timeout=60, plans=plans)["a"]

    def launches() -> int:
        plan = transposed()
        assert isinstance(plan, LaunchPlan)
        return sum(step["op"] == "dispatch" for step in plan.steps["steps"])

    assert launches() == 1
    monkeypatch.setattr(iree_worker.worker, "ask", ask)
    assert launches() == 2
    assert b"_dispatch_1" in transposed(plans=False).module


@pytest.mark.parametrize("dtype", [torch.float32, pytest.param(torch.bfloat16, marks=pytest.mark.slow)])
def test_columns_of_known_sizes(dtype: torch.dtype):
    """Catches columns of a sum that are left out where the last block of rows or of columns is not whole."""

    def summed(*tensors: torch.Tensor) -> list[torch.Tensor]:
        return [each for x in tensors for each in ((x * x[:, :1]).sum(0), x.mean(0), (x.t().sin().t() * x + 1).sum(0))]

    torch.manual_seed(0)
    tensors = [torch.randn(shape).to(dtype) for shape in ((4096, 128), (1601, 331), (8210, 64))]
    exact = summed(*(tensor.double() for tensor in tensors))
    compiled = torch.compile(summed, backend="dovetail")(*tensors)
    for result, eager, right in zip(compiled, summed(*tensors), exact, strict=True):
        error, allowed = (abs(each.double() - right).max() for each in (result, eager))
        assert error <= 3 * allowed + max(torch.finfo(dtype).eps, 1e-14) * abs(right).max()


def repeated(x: torch.Tensor, row: torch.Tensor, column: torch.Tensor) -> list[torch.Tensor]:
    """What repeats a row, a number of each row, both, and a plane; of one result and of two."""
    planes = x.view(3, -1, x.shape[1]) * x.view(3, -1, x.shape[1])[:1]
    return [(x + row).sigmoid() * x, x.exp() * column, (x - row).gt(column), planes, planes.sigmoid()]


SHAPES = ((516, 1024), (1983, 331), (111, 5003))


@pytest.mark.parametrize(
    ("dtype", "calls", "dynamic"),
    # The shapes that are known are compiled, all of a call in one program.
    [
        pytest.param(torch.float32, [SHAPES], False, id="known"),
        pytest.param(torch.bfloat16, [SHAPES[1:2]], False, id="half precision", marks=pytest.mark.slow),
        pytest.param(torch.float64, [(shape,) for shape in SHAPES], True, id="open"),
    ],
)
def test_what_goes_by_rows_is_eagers(dtype: torch.dtype, calls: list[tuple[tuple[int, int], ...]], dynamic: bool):
    """Catches the end of a row, or the last rows of a matrix, that are left out where they fill no vector or piece."""

    def all_of_them(*given: torch.Tensor) -> list[torch.Tensor]:
        return [each for start in range(0, len(given), 3) for each in repeated(*given[start : start + 3])]

    torch.manual_seed(0)
    compiled = torch.compile(all_of_them, backend="dovetail", options={"strict": True}, dynamic=dynamic)
    for shapes in calls:
        sizes = [each for rows, length in shapes for each in ((rows, length), (length,), (rows, 1))]
        given = [torch.randn(size).to(dtype) for size in sizes]
        exact = all_of_them(*(each.double() for each in given))
        for result, eager, right in zip(compiled(*given), all_of_them(*given), exact, strict=True):
            if eager.dtype is torch.bool:
                assert torch.equal(result, eager)
                continue
            error, allowed = (abs(each.double() - right).max() for each in (result, eager))
            assert error <= 3 * allowed + max(torch.finfo(dtype).eps, 1e-14) * abs(right).max()


def turned(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Short loops, long ones, such of several results, copies, and what is computed before it is transposed."""
    found, *_, bias = [], *tensors
    for x, y in zip(tensors[:-1:2], tensors[1:-1:2], strict=True):
        across = x.permute(ORDERS[tuple(x.shape)])
        found += [across - y, y.gt(across)]
    x, y = tensors[:2]
    long = x.t()
    for _ in range(9):
        long = long * y + 1
    return [*found, long, x.t().contiguous(), (x * 2).t() - bias, (x.abs() + 1).t().neg() + y]


@pytest.mark.parametrize(
    ("cpu", "dtype"),
    # Of sixteen numbers a vector where there are such, of four, and of two.
    [("host", torch.float32), ("haswell", torch.float64), ("x86-64", torch.float64)],
)
def test_what_goes_by_blocks_is_eagers(cpu: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch):
    """Catches blocks at the edges, and of any form, that are left out, read twice or written over others."""
    monkeypatch.setitem(target.TARGETS, "cpu", partial(CpuTarget, cpu=cpu))
    modules: list[str] = []
    load = compiler.load_program

    def keep(module: ir.Module, *others: Any) -> Any:
        modules.append(str(module))
        return load(module, *others)

    monkeypatch.setattr(compiler, "load_program", keep)
    torch.manual_seed(0)
    tensors = []
    for shape, order in ORDERS.items():
        x = torch.randn(shape, dtype=dtype)
        tensors += [x, torch.randn(x.permute(order).shape, dtype=dtype)]
    tensors.append(torch.randn(257, dtype=dtype))
    exact = turned([tensor.double() for tensor in tensors])
    compiled = torch.compile(turned, backend="dovetail", options={"strict": True})
    for result, eager, right in zip(compiled(tensors), turned(tensors), exact, strict=True):
        assert result.stride() == eager.stride()
        error, allowed = (abs(each.double() - right.double()).max() for each in (result, eager))
        assert error <= 3 * allowed + 1e-14 * abs(right.double()).max()
    [module] = modules
    assert module.count('dovetail.variant = "by-blocks"') == module.count('dovetail.role = "region"')


def of_open_sizes(x: torch.Tensor, y: torch.Tensor, r: torch.Tensor) -> list[torch.Tensor]:
    """Transpositions, and columns: of one tensor, of products with a number of each row, of planes."""
    planes = x.unsqueeze(0) * y.t() + 1
    return [x.t() + y, (x.sin() * y.t()).t() - y, (x * y.t() * r).sum(0), x.mean(0), planes.sum(1), planes.sum((0, 1))]


def test_what_goes_by_blocks_of_open_sizes_is_eagers():
    """Catches the last block of rows or columns left out, or taken for whole, where no size was a multiple of it."""
    torch.manual_seed(0)
    compiled = torch.compile(of_open_sizes, backend="dovetail", options={"strict": True}, dynamic=True)
    dovetail.stats(reset=True)
    for rows, length in ((257, 331), (2, 3), (1000, 64), (65, 2), (16, 128)):
        tensors = torch.randn(rows, length), torch.randn(length, rows), torch.randn(rows, 1)
        exact = of_open_sizes(*(each.double() for each in tensors))
        for result, eager, right in zip(compiled(*tensors), of_open_sizes(*tensors), exact, strict=True):
            assert result.stride() == eager.stride()
            error, allowed = (abs(each.double() - right).max() for each in (result, eager))
            assert error <= 3 * allowed + torch.finfo(torch.float32).eps * abs(right).max()
    assert dovetail.stats().graphs == 1
