"""GPUs that regions are compiled for, as IREE's code generation knows them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dovetail.backends.base_target import COMMON_FLAGS, Target, sources_digest
from dovetail.backends.compiling.compiler_runs import CompilerRuns, Run
from dovetail.backends.cuda.assembler import Assembled, assemble, assembler_version
from dovetail.backends.cuda.assertions import with_assertions
from dovetail.backends.cuda.waits import waiting


@dataclass(frozen=True)
class Architecture:
    """A generation of GPUs.

    Attributes:
        processors: of the chip that is common; how many workgroups run at the same time follows from it.
        shared_bytes: memory that the threads of one workgroup may share.
        overlaps: whether a kernel may be launched while the one before it ends, and waits by itself.
    """

    processors: int
    shared_bytes: int
    overlaps: bool = False


ARCHITECTURES = {
    "sm_80": Architecture(processors=108, shared_bytes=166_912),  # A100
    "sm_89": Architecture(processors=128, shared_bytes=101_376),  # RTX 4090, L40
    "sm_90": Architecture(processors=132, shared_bytes=232_448, overlaps=True),  # H100, H200
}
"""By the name that LLVM and PTX have for them. The numbers are NVIDIA's, from the CUDA programming guide."""


_EDITS = {
    "global-optimization": "wrap",
    "flow": "read results",
    "executable-configurations": "configure",
    "executable-targets": "finish",
}
_CHECKS = {"executable-configurations": "check lanes"}


@dataclass(frozen=True)
class CudaTarget(Target):
    """A GPU that a region is compiled for, on any machine.

    Attributes:
        architecture: one of `ARCHITECTURES`.
        why_plain, plain_kernels: what is left to IREE as it is; "" where our own forms of kernels go first.
    """

    architecture: str
    why_plain: str = ""
    plain_kernels: tuple[tuple[str, str], ...] = ()
    name = "cuda"
    device = "cuda"

    def compile_flags(self) -> tuple[str, ...]:
        """Flags of `iree-compile`; the GPU is not among them, whose table of names ends before sm_90."""
        return (*COMMON_FLAGS, "--iree-opt-level=O2", "--iree-opt-data-tiling=false")

    def prepared(self, text: str) -> str:
        """The text of regions, a module of torch's dialect, with the functions of half precision that GPUs compute in
        float32; it says what it is compiled for."""
        from dovetail.backends.elementary.widened import with_wide_functions  # needs MLIR, which what only runs has not

        aliases, start, rest = with_wide_functions(text).partition("module {")
        if not start or not all(line.startswith("#") for line in aliases.splitlines()):
            raise ValueError(f"expected a module without attributes, got {text.partition(chr(10))[0]!r}")
        return f"{aliases}module attributes {{hal.device.targets = [{self.attribute()}]}} {{{rest}"

    def attribute(self) -> str:
        """IREE's attribute for one such GPU."""
        known = ARCHITECTURES[self.architecture]
        return f"""#hal.device.target<"cuda", [#hal.executable.target<"cuda", "cuda-nvptx-fb", {{
            iree_codegen.target_info = #iree_gpu.target<
                arch = "{self.architecture}", features = "+ptx84",
                wgp = <
                    compute = fp64|fp32|fp16|int64|int32|int16|int8, storage = b64|b32|b16|b8,
                    subgroup = shuffle|arithmetic, dot = dp4xi8toi32, mma = [], subgroup_size_choices = [32],
                    max_load_instruction_bits = 128, simds_per_wgp = 4, max_workgroup_sizes = [1024, 1024, 1024],
                    max_thread_count_per_workgroup = 1024, max_workgroup_memory_bytes = {known.shared_bytes},
                    max_workgroup_counts = [2147483647, 65535, 65535]>,
                chip = <wgp_count = {known.processors}>>}}>]>"""

    @property
    def edits(self) -> Mapping[str, str]:
        """One kernel of what belongs together, tiles, and the library's functions, unless IREE's own are asked for."""
        return _CHECKS if self.why_plain else _EDITS

    def plainer(self, region: str, failure: str, refused: Mapping[str, str]) -> "CudaTarget | None":
        """Kernels as IREE makes them, where ours could not be made: those that were refused, then all.

        Not all of a region that gathers at positions which are checked: by the last edit of kernels.
        """
        if self.why_plain:
            return None
        plain = dict(self.plain_kernels)
        if refused and plain.keys().isdisjoint(refused):
            return replace(self, plain_kernels=tuple((plain | dict(refused)).items()))
        from dovetail.dialects.torch_facts.in_regions import CHECKED_GATHER

        return None if f"{CHECKED_GATHER} " in region else replace(self, why_plain=failure)

    def assembled(self, code: bytes, timeout: float, runs: CompilerRuns) -> Assembled | Run:
        """A cubin of the PTX `code`, or that itself where there is no assembler, or no code; the run if it failed."""
        if not code:
            return Assembled(code)
        code = with_assertions(code)
        none = code, frozenset[str]()
        edited, waits = waiting(code) if ARCHITECTURES[self.architecture].overlaps else none
        made = assemble(edited, self.architecture, timeout, runs)
        return replace(made, waits=waits) if isinstance(made, Assembled) else made

    def decided_by(self) -> tuple[str, ...]:
        """The GPU, the assembler, what is computed in float32, what is edited, and what is done to PTX."""
        sources = map(sources_digest, ("elementary", "cuda"))
        return self.attribute(), *sources, assembler_version(), str(self.edits)
