"""How an op of a kernel for a CPU is asked to be tiled, as IREE's attribute says it."""

from collections.abc import Sequence


def tiles(distribution: Sequence[int], parallel: Sequence[int], reduction: Sequence[int] = ()) -> str:
    """The attribute that asks for tiles, by loop: what a thread is given at once, and what vectors hold.

    Args:
        distribution: iterations for a thread, 0 for all.
        parallel: those in vectors, 0 of loops that reduce.
        reduction: those of loops that reduce, 0 of the others; nothing where none does.
    """
    reduced = f", vector_reduction = {[*reduction]}" if reduction else ""
    return (
        "#iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<"
        f"distribution = {[*distribution]}, vector_common_parallel = {[*parallel]}{reduced}>, "
        "translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>, "
        "{enable_loop_peeling}>>"
    )
