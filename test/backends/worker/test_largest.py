"""How large indices of kernels may be: 32 bits must hold what is said to be at most so large."""

import pytest
from iree.compiler import ir

from dovetail.backends.worker.largest import WHOLE, largest

FUNCTION = """
llvm.func @kernel(%given: i32) {{
  %thread = nvvm.read.ptx.sreg.tid.x range <i32, 0, 1024> : i32
  %unbounded = nvvm.read.ptx.sreg.ctaid.x : i32
  %most = llvm.mlir.constant(4294967295 : i64) : i64
  %whole = llvm.mlir.constant(4294967296 : i64) : i64
  %half = llvm.mlir.constant(2147483648 : i64) : i64
  %below = llvm.mlir.constant(-1 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %two = llvm.mlir.constant(2 : i64) : i64
  %none = llvm.mlir.constant(0 : i64) : i64
  %short = llvm.mlir.constant(7 : i16) : i16
  %wide = llvm.zext %thread : i32 to i64
  %signed_half = llvm.trunc %half : i64 to i32
  %result = {op}
  llvm.return
}}
"""


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("llvm.add %thread, %thread : i32", 2 * 1023),
        ("llvm.mul %wide, %two : i64", 2 * 1023),
        ("llvm.sext %thread : i32 to i64", 1023),
        ("llvm.add %none, %most : i64", WHOLE - 1),
        ("llvm.add %one, %most : i64", None),
        ("llvm.mul %one, %most : i64", WHOLE - 1),
        ("llvm.mul %two, %half : i64", None),
        ("llvm.add %none, %whole : i64", None),
        ("llvm.add %none, %below : i64", None),
        ("llvm.add %none, %half : i64", WHOLE // 2),
        # Of 32 bits with a sign it is less than 0.
        ("llvm.zext %signed_half : i32 to i64", WHOLE // 2),
        ("llvm.sext %signed_half : i32 to i64", None),
        ("llvm.trunc %most : i64 to i32", WHOLE - 1),
        ("llvm.trunc %whole : i64 to i32", None),
        ("llvm.zext %short : i16 to i64", None),
        ("llvm.trunc %wide : i64 to i16", None),
        ("llvm.urem %most, %two : i64", 1),
        ("llvm.urem %whole, %whole : i64", WHOLE - 1),
        ("llvm.udiv %most, %two : i64", WHOLE // 2 - 1),
        ("llvm.udiv %most, %none : i64", None),
        ("llvm.udiv %whole, %two : i64", None),
        ("llvm.zext %unbounded : i32 to i64", None),
        ("llvm.zext %given : i32 to i64", None),
    ],
)
def test_bound(op: str, expected: int | None) -> None:
    """Catches an index that wraps around in 32 bits, by which a kernel reads or writes elsewhere."""
    with ir.Context() as context:
        module = ir.Module.parse(FUNCTION.format(op=op), context)
        (function,) = module.body.operations
        *_, op_asked, _ = function.regions[0].blocks[0].operations
        assert largest(op_asked.results[0]) == expected
