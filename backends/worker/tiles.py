"""How loops are cut on CPUs, as IREE's attributes say it."""

from dataclasses import dataclass

from iree.compiler import ir

_PIPELINE = (
    "translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>, "
    "{enable_loop_peeling}>"
)


@dataclass(frozen=True)
class Blocks:
    """How loops are cut, by loop: iterations of a thread's piece, of a vector's, and of a step of what is reduced."""

    threads: tuple[int, ...]
    vectors: tuple[int, ...]
    steps: tuple[int, ...] = ()

    def attribute(self) -> str:
        """IREE's attribute of the op."""
        steps = f", vector_reduction = {[*self.steps]}" if self.steps else ""
        return (
            "#iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<"
            f"distribution = {[*self.threads]}, vector_common_parallel = {[*self.vectors]}{steps}>, {_PIPELINE}>"
        )


def config(**levels: list[int]) -> ir.Attribute:
    """IREE's attribute of an op that another one of its kernel names the pipeline for."""
    written = ", ".join(f"{name} = {numbers}" for name, numbers in levels.items())
    return ir.Attribute.parse(f"#iree_cpu.lowering_config<{written}>")
