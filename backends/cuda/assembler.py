"""NVIDIA's assembler, where there is one: makes a cubin of PTX, and says what its kernels keep in memory."""

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from dovetail.backends.compiling.compiler_runs import CompilerRuns, Run

MOST_LOCAL_BYTES = 512
"""Of one thread. A kernel that keeps more in memory instead of registers was tiled too large, and is slow."""

# Where torch's CUDA builds bring one: with Triton, and with NVIDIA's own package.
_BESIDE = (("triton", "backends/nvidia/bin/ptxas"), ("nvidia.cuda_nvcc", "bin/ptxas"), ("nvidia.cu13", "bin/ptxas"))


@dataclass(frozen=True)
class Assembled:
    """What became of PTX.

    Attributes:
        code: a cubin; the PTX itself where there is no assembler, for the driver to assemble.
        refused: why a kernel must not be launched, by its name.
        waits: the kernels, by name, that wait by themselves for what was launched before them.
    """

    code: bytes
    refused: dict[str, str] = field(default_factory=dict)
    waits: frozenset[str] = frozenset()


@functools.cache
def assembler() -> str:
    """The path of `ptxas`, "" if there is none: of `PATH`, or of a package that torch brings."""
    found = shutil.which("ptxas")
    if found:
        return os.path.abspath(found)  # who runs it has another working directory
    for package, path in _BESIDE:
        try:
            spec = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            if os.access(Path(folder) / path, os.X_OK):
                return str(Path(folder) / path)
    return ""


@functools.cache
def assembler_version() -> str:
    """What `ptxas` says of itself; "none" if there is none."""
    if not assembler():
        return "none"
    try:
        return subprocess.run([assembler(), "--version"], capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"can't be asked: {error}"


def assemble(ptx: bytes, architecture: str, timeout: float, runs: CompilerRuns) -> Assembled | Run:
    """Assembles `ptx` for `architecture` in at most `timeout` seconds; the run if it failed.

    Raises:
        StartError: if the assembler can't be started, or `runs` was stopped.
    """
    if not assembler():
        return Assembled(ptx)
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "kernels.ptx"), Path(folder, "kernels.cubin")
        source.write_bytes(ptx)
        command = [assembler(), f"-arch={architecture}", "--verbose", "-o", str(made), str(source)]
        run = runs.execute(command, b"", timeout)
        if run.failure:
            return run
        return Assembled(made.read_bytes(), spilling(run.diagnostics))


def spilling(said: str) -> dict[str, str]:
    """Why kernels must not be launched, by their name, from what the assembler `said` of them."""
    return {
        name: f"a thread of it keeps {size} bytes in memory, expected at most {MOST_LOCAL_BYTES}"
        for name, size in re.findall(r"Function properties for (\w+)\s+(\d+) bytes stack frame", said)
        if int(size) > MOST_LOCAL_BYTES
    }
