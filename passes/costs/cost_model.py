"""What running and compiling costs on a target, as measured: what placement and fusion decide by."""

from collections.abc import Iterable
from dataclasses import dataclass

from torch_mlir import ir

from dovetail.dialects.sizes.expected import expected_bytes
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.ops import Kind, is_constant, kind

MOST_BINDINGS = 32
"""How many tensors a dispatch can bind in IREE's runtime: one that needs more compiles, and then can't be loaded."""

FUNCTION_BYTES = 6
"""Bytes that a core moves while it computes an elementary function of one element: for `tanh`, `exp` and `erf` of
float32, 0.14 to 0.19 ns on an AMD EPYC."""


@dataclass(frozen=True)
class CostModel:
    """Costs in microseconds of one core's time. `python -m dovetail.tools.measure_costs` prints them anew.

    Attributes:
        launch: calling a region on the calling thread, with one argument and one result and their memory.
        argument: each further argument or result of a region.
        library_call: an ATen op on a few elements, with the memory of its result.
        byte: reading or writing one byte of memory, by either.
        reduction_depth: how many reductions, each of what the one before it gave, a region may hold: the compile time
            grows exponentially with them.
        results: how many a region may have: the compile time is linear up to about this number, then quadratic.
        odd_product: what a multiplication takes more in a product of 16-bit floats whose rows start at odd addresses.
    """

    launch: float
    argument: float
    library_call: float
    byte: float
    reduction_depth: int
    results: int
    odd_product: float = 0.0

    def as_region(self, operands: Iterable[ir.Value], results: Iterable[ir.Value]) -> float:
        """The cost of a region's call: what stays inside costs no memory traffic."""
        tensors = [*operands, *results]
        return self.launch + self.argument * max(len(tensors) - 2, 0) + self.byte * expected_bytes(tensors)

    def as_library_calls(self, ops: Iterable[ir.Operation]) -> float:
        """The cost of running `ops` through ATen: each a call that reads and writes memory."""
        called = [op for op in ops if not is_constant(op)]
        moved = sum(expected_bytes([*op.operands, *op.results]) for op in called if kind(op) is not Kind.VIEW)
        return self.library_call * len(called) + self.byte * moved


# By type of device. "cpu": two cores of an AMD EPYC with IREE 3.13.0 and torch 2.13.0; "cuda": what the host of an H200
# spends with torch 2.11.0, the byte and the product apart, which are the GPU's: 4096 x 768 x 30522 take 0.8 ms, with
# 30720 0.3, and 50257 2.2 to 3.4 ms, with 51200 0.4 to 0.5.
COSTS = {
    "cpu": CostModel(launch=1.7, argument=0.7, library_call=2.2, byte=0.00003, reduction_depth=8, results=512),
    "cuda": CostModel(
        launch=5.5, argument=0.5, library_call=7.5, byte=2.4e-7, reduction_depth=8, results=512, odd_product=5e-9
    ),
}


def costs_of(module: ir.Module) -> CostModel:
    """The costs on the device that `module` is for."""
    return COSTS[device_type(module)]
