"""This machine's CPU, and how wide the vectors are of any that LLVM knows."""

import functools
import platform
from pathlib import Path

# LLVM's names of all x86 CPUs of 64 bits that lack AVX2. No more are to come.
_NARROW = frozenset(
    "x86-64 x86-64-v2 nocona core2 penryn nehalem corei7 westmere sandybridge corei7-avx ivybridge core-avx-i"
    " atom bonnell silvermont slm goldmont goldmont-plus tremont k8 athlon64 athlon-fx opteron k8-sse3 athlon64-sse3"
    " opteron-sse3 amdfam10 barcelona btver1 btver2 bdver1 bdver2 bdver3".split()
)


def has_wide_vectors(cpu: str) -> bool:
    """Whether LLVM's `cpu` has vectors of 32 bytes; for shorter ones, transposing 64 x 64 takes a minute to compile."""
    if cpu == "host":
        return platform.machine() != "x86_64" or "avx2" in host_cpu().split()
    return cpu not in _NARROW


@functools.cache  # many cores take many lines, and milliseconds
def host_cpu() -> str:
    """Describes this machine's CPU: model and features where Linux tells them, else what Python knows."""
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.exists():
        return f"{platform.system()} {platform.machine()} {platform.processor()}"
    first_core = cpuinfo.read_text().split("\n\n", 1)[0]
    decisive = ("vendor_id", "cpu family", "model", "flags", "Features", "CPU implementer", "CPU part")
    lines = [line for line in first_core.splitlines() if line.partition(":")[0].strip() in decisive]
    return f"{platform.machine()}\n" + "\n".join(lines)
