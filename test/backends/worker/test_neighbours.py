"""Which accesses of a kernel are known as neighbours of others, and how those of odd vectors are aligned."""

import re

import pytest

from dovetail.backends.worker.finish import finish

KERNEL = """
module {
  hal.executable private @e {
    hal.executable.variant public @v target(<"cuda", "cuda-nvptx-fb">) {
      builtin.module {
        llvm.func @kernel(%from: !llvm.ptr<1> {llvm.align = 16 : i32}, %to: !llvm.ptr<1> {llvm.align = 16 : i32}) {
          %one = llvm.mlir.constant(1 : i32) : i32
          %four = llvm.mlir.constant(4 : i32) : i32
          %three = llvm.mlir.constant(3 : i64) : i64
          %less = llvm.mlir.constant(-16 : i32) : i32
          %thread = nvvm.read.ptx.sreg.tid.x THREADS : i32
          %first = llvm.mul %thread, %four : i32
          %before = llvm.add %first, %less overflow<nsw> : i32
          %next = llvm.add %FIRST, %one FLAGS : i32
          %at = llvm.WIDENED %FIRST : i32 to i64
          %behind = llvm.WIDENED %next : i32 to i64
          %row = llvm.mul %at, %three : i64
          %other = llvm.mul %behind, %three : i64
          %0 = llvm.getelementptr %from[%row] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
          %1 = llvm.load %0 {alignment = 4 : i64} : !llvm.ptr<1> -> vector<COUNTxf32>
          %2 = llvm.getelementptr %to[%row] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
          llvm.store %1, %2 {alignment = 4 : i64} : vector<COUNTxf32>, !llvm.ptr<1>
          %3 = llvm.getelementptr %to[%other] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
          llvm.store %1, %3 {alignment = 4 : i64} : vector<COUNTxf32>, !llvm.ptr<1>
          llvm.return
        }
      }
    }
  }
}
"""


FEW = "range <i32, 0, 64>"


def finished(count: int = 3, flags: str = "", widened: str = "zext", threads: str = FEW, first: str = "first") -> str:
    text = KERNEL.replace("COUNT", str(count)).replace("FLAGS", flags).replace("WIDENED", widened)
    text = text.replace("THREADS", threads).replace("FIRST", first)
    return finish(text.replace("{alignment = 4 : i64}", "<alignment = 4>").encode()).decode()


def test_each_number_is_accessed_alone():
    """Catches vectors of 3, which LLVM joins with nothing, and one of which an element is read or written twice."""
    text = finished()
    assert len(re.findall(r"llvm.load .* -> f32", text)) == 3
    assert len(re.findall(r"llvm.store .* : f32", text)) == 6
    assert "vector<3xf32>, !llvm.ptr" not in text
    read = re.findall(r"llvm.getelementptr (%\w+)\[([012])\] .* f32", text)
    assert [number for _, number in read] == ["0", "1", "2"] * 3
    assert len({start for start, _ in read}) == 3


def test_the_next_row_is_so_many_bytes_behind():
    """Catches an address that LLVM knows no distance of: twelve accesses of a number each for three of four."""
    assert re.findall(r"llvm.getelementptr %\w+\[(\d+)\] .* i8", finished()) == ["12"]


def test_numbers_are_as_aligned_as_their_place_in_the_thread_makes_them():
    """Catches an alignment that is too small, which no vector is made of, or too large, for which the GPU fails."""
    aligned = [int(each) for each in re.findall(r"alignment = (\d+)", finished())]
    assert aligned == [16, 4, 8, 16, 4, 8, 4, 16, 4]


@pytest.mark.parametrize(
    ("given", "is_known"),
    [
        ({}, True),
        ({"threads": f"range <i32, 0, {2**30}>"}, True),
        ({"threads": f"range <i32, 0, {2**30 + 1}>"}, False),
        ({"threads": ""}, False),
        ({"threads": "", "flags": "overflow<nsw>"}, False),
        ({"first": "before", "flags": "overflow<nsw>"}, False),
        ({"widened": "sext"}, False),
        ({"widened": "sext", "flags": "overflow<nsw>"}, True),
    ],
)
def test_what_may_overflow_is_no_neighbour(given: dict[str, str], is_known: bool):
    """Catches a sum of 32 bits that begins again at 0 taken for the place behind, 16 GiB away; so does -1 and 1 where
    both are widened without a sign, though nothing overflows that has one."""
    assert bool(re.search(r"llvm.getelementptr .* i8", finished(**given))) is is_known


def test_whole_vectors_stay():
    """Catches an access of 16 bytes taken apart, in kernels that turn nothing."""
    text = finished(count=4)
    assert len(re.findall(r"vector<4xf32>", text)) == 3
    assert not re.search(r"llvm.getelementptr .* i8", text)
