"""Has loops that reach some tensor across its rows go by blocks, in a text of IREE's phase `flow`.

IREE would take such a tensor one element at a time, unless the loop does nothing but copy it.
"""

from dataclasses import dataclass, replace

from iree.compiler import ir

from dovetail.backends.worker.loops import Loops
from dovetail.backends.worker.read_loops import read_loops, width_of
from dovetail.backends.worker.walk import walk

_THREADS = (64, 256)
"""Rows and columns that a thread is given at once: few pages of memory are in use at a time."""

_LONG, _FEW_ROWS = 16, 8
"""Operations on an element from which blocks have few rows: a longer loop lacks the registers for more."""


@dataclass(frozen=True)
class Blocks:
    """Blocks of `rows` along the loop `across` and `columns` along the last one of `loops`."""

    loops: int
    across: int
    rows: int
    columns: int

    def attribute(self) -> str:
        """IREE's attribute of the op."""
        threads, vectors = self._by_loop(*_THREADS), self._by_loop(self.rows, self.columns)
        return (
            "#iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<"
            f"distribution = {threads}, vector_common_parallel = {vectors}>, "
            "translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>>"
        )

    def _by_loop(self, across: int, last: int) -> list[int]:
        return [{self.across: across, self.loops - 1: last}.get(loop, 1) for loop in range(self.loops)]


def blocks(loops: Loops, operations: int, vector_bits: int) -> Blocks | None:
    """Blocks as wide as a vector, where each tensor lies along the last loop or along one other."""
    last = len(loops.extents) - 1
    others = loops.inner - {last}
    if loops.reduces or last not in loops.inner or len(others) != 1:
        return None
    columns = vector_bits // loops.bits
    (across,) = others
    return Blocks(last + 1, across, min(columns, _FEW_ROWS) if operations > _LONG else columns, columns)


def cut_into_blocks(text: bytes) -> bytes:
    """`text`, where the only loop of a kernel goes by blocks if it computes something and has a form."""
    vector_bits = 512 if b"+avx512f" in text else 256
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for executable in module.body.operations:
            computing = [op for op in walk(executable.operation) if "iterator_types" in op.attributes]
            form = _form(computing[0], vector_bits) if len(computing) == 1 else None
            if form is not None:
                computing[0].attributes["compilation_info"] = ir.Attribute.parse(form.attribute())
        return str(module).encode()


def _form(op: ir.Operation, vector_bits: int) -> Blocks | None:
    *operations, _ = (each.operation for each in op.regions[0].blocks[0].operations)
    loops = read_loops(op)
    if loops is None or not operations:
        return None
    widest = max(loops.bits, *(width_of(result.type) for each in operations for result in each.results))
    return blocks(replace(loops, bits=widest), len(operations), vector_bits)
