"""The CPU that the sweep's code is compiled for and runs on, as the compiler describes it."""

import os
import re
from dataclasses import dataclass

from dovetail.backends.compiling.compiler_runs import CompilerRuns
from dovetail.backends.target import CpuTarget
from dovetail.errors import DovetailError
from dovetail.tools.machine import processor

_PROBE = """
func.func @probe(%value: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %result = torch.aten.relu %value : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %result : !torch.vtensor<[4],f32>
}
"""

# What ATen has kernels for on x86, the fastest first, and the features that it asks for.
_KERNELS = {"avx512": {"avx512vl", "avx512bw", "avx512dq", "fma"}, "avx2": {"avx2", "fma"}}


@dataclass(frozen=True)
class Cpu:
    """What decides the code.

    Attributes:
        machine: the model that the operating system names.
        cores: how many of them this process may use.
        asked: what the compiler was asked for: "host", or a name of LLVM's.
        name: LLVM's name of that.
        features: LLVM's names of what it has, sorted, with blanks between.
        vector_bytes: the width of a vector that IREE tiles for.
    """

    machine: str
    cores: int
    asked: str
    name: str
    features: str
    vector_bytes: int

    @property
    def title(self) -> str:
        """The CPU in a few words, e.g. "AMD EPYC (znver4)", or "AMD EPYC as haswell" where its code ran on another."""
        return f"{self.machine} ({self.name})" if self.asked == "host" else f"{self.machine} as {self.name}"

    @property
    def kernels(self) -> dict[str, str]:
        """The environment in which ATen, on this machine, takes the kernels that it would take on this CPU.

        Without a fused multiply-add, `inf + alpha * y` is NaN where `alpha * y` overflows.
        """
        if self.asked == "host":
            return {}
        found = (name for name, needed in _KERNELS.items() if needed.issubset(self.features.split()))
        return {"ATEN_CPU_CAPABILITY": next(found, "default")}


def target_for_cpu(asked: str) -> CpuTarget:
    """The default target, for the CPU that LLVM calls `asked`; "host" is this machine's."""
    return CpuTarget(cpu=asked)


def describe(asked: str) -> Cpu:
    """Compiles an op for `asked` and reads what IREE says of the target.

    Raises:
        DovetailError: if the compiler does not know `asked`, with its message.
    """
    # The width that code is generated with is no property of the CPU.
    flags = [each for each in target_for_cpu(asked).compile_flags() if "vector-width" not in each]
    run = CompilerRuns().run([*flags, "--compile-to=flow"], _PROBE, timeout=60)
    found = re.search(r'\{cpu = "(.*?)", cpu_features = "(.*?)".* native_vector_size = (\d+)', run.output.decode())
    if run.failure or found is None or not found[2]:
        raise DovetailError(f"CPU '{asked}': {run.diagnostics.strip() or 'the compiler describes no such target'}")
    # Of a feature that is named twice, the later word holds.
    signs = {each[1:]: each[0] for each in found[2].split(",")}
    features = " ".join(sorted(name for name, sign in signs.items() if sign == "+"))
    return Cpu(processor(), len(os.sched_getaffinity(0)), asked, found[1], features, int(found[3]))
