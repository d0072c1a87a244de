"""Compilation targets: frozen, hashable, and beside their parts the only place where compiler flags are chosen."""

import functools
import hashlib
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from dovetail.backends import elementary, worker
from dovetail.backends.compiler_runs import CompilerRuns, Run
from dovetail.backends.cuda.assembler import Assembled
from dovetail.backends.cuda.target import ARCHITECTURES, CudaTarget
from dovetail.backends.flags import COMMON, COMPILER_PACKAGE
from dovetail.errors import OptionError

if TYPE_CHECKING:
    from torch_mlir import ir


class Target(Protocol):
    """What a region is compiled for: a frozen dataclass whose every field decides code."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def device(self) -> str:
        """The type of device, in torch's words."""

    @property
    def drivers(self) -> tuple[str, ...]:
        """Drivers of IREE's runtime that run a region without a plan; none where nothing does."""

    @property
    def variants(self) -> Mapping[str, Mapping[str, Any]]:
        """The ways to compile a region that tuning compares, by name."""

    def variant(self, name: str) -> "Target":
        """This target, compiled for in the way that `variants` knows as `name`."""

    def compile_flags(self) -> tuple[str, ...]:
        """Flags of `iree-compile` for regions in the torch dialect."""

    def prepared(self, text: str) -> str:
        """What the compiler is given for `text`, a module of regions in the torch dialect."""

    @property
    def tensor_edits(self) -> tuple[tuple[str, str], ...]:
        """Phases of IREE's before `flow` at which its text is edited, in order, and what the worker is to do there."""

    @property
    def edits(self) -> tuple[tuple[str, str], ...]:
        """Likewise from `flow` on."""

    @property
    def why_plain(self) -> str:
        """Why kernels are left to IREE as they are, where nothing is edited."""

    def plainer(self, failure: str) -> "Target | None":
        """This target, compiled for in a plainer way, since `failure` came of this one; None if there is none."""

    def assembled(self, code: bytes, timeout: float, runs: CompilerRuns) -> Assembled | Run:
        """What the device runs of the `code` that IREE made, in at most `timeout` seconds; the run if it failed."""

    def fingerprint(self) -> str:
        """SHA-256, in hex, over all that decides code."""


@dataclass(frozen=True)
class CpuTarget:
    """A CPU. Every field decides code, so every field is part of the fingerprint.

    Attributes:
        name: IREE's target backend.
        cpu: LLVM's CPU name; "host" is resolved by the machine that compiles.
        data_tiling: pack matrix operands into tiles. From 512 x 512 x 512 up it equals or beats MKL, but a
            matrix-vector product becomes 9x slower, so it is chosen per region.
        opt_level: IREE's global optimization level. O2 halves the time of softmax and layer norm against the
            default, for the same compile time; O3 gave the same code as O2 (docs/iree-region-abi.md).
        distribution: cut loops into pieces for several threads.
        aggressive_fusion: fuse more of a region's loops into one than IREE thinks good.
        rows_by_twos: cut loops into pieces of two rows, where IREE's own may have an odd number of them.
        by_blocks: cut loops that reach tensors across their rows into blocks; else what is transposed is copied before.
    """

    name: str = "llvm-cpu"
    cpu: str = "host"
    data_tiling: bool = False
    opt_level: str = "O2"
    distribution: bool = True
    aggressive_fusion: bool = False
    rows_by_twos: bool = False
    by_blocks: bool = False
    device = "cpu"
    tensor_edits = ()
    why_plain = ""

    @property
    def drivers(self) -> tuple[str, ...]:
        """`IREE_DRIVERS`."""
        return IREE_DRIVERS

    def compile_flags(self) -> tuple[str, ...]:
        """Flags of `iree-compile` for one region in the torch dialect."""
        return (
            *COMMON,
            "--iree-hal-target-device=local",
            f"--iree-hal-local-target-device-backends={self.name}",
            f"--iree-llvmcpu-target-cpu={self.cpu}",
            f"--iree-opt-level={self.opt_level}",
            f"--iree-opt-data-tiling={str(self.data_tiling).lower()}",
            "--iree-llvmcpu-debug-symbols=false",
            # Sums of products come out as scalars, which LLVM packs again.
            "--iree-llvmcpu-slp-vectorization=true",
            # Four vectors at a time: each hides the others' latency.
            f"--iree-llvmcpu-target-vector-width-in-bytes={256 if _has_wide_vectors(self.cpu) else 64}",
            # The rest of a row as code of its own; masked vectors end as scalars.
            "--iree-llvmcpu-vector-pproc-strategy=peel",
            # A loop with two results keeps a tile of one of them there: 41,152 bytes with IREE's largest tiles.
            "--iree-llvmcpu-stack-allocation-limit=131072",
            *(() if self.distribution else ("--iree-llvmcpu-disable-distribution",)),
            *(("--iree-dispatch-creation-enable-aggressive-fusion",) if self.aggressive_fusion else ()),
            # Of a loop over rows, IREE's pieces have half as many at most.
            *(("--iree-llvmcpu-distribution-size=4",) if self.rows_by_twos else ()),
        )

    def prepared(self, text: str) -> str:
        """`text` with our own elementary functions in place of IREE's."""
        from dovetail.backends.elementary.expand import with_own_functions  # needs MLIR, which what only runs has not

        return with_own_functions(text, self.rows_by_twos, self.by_blocks)

    @property
    def edits(self) -> tuple[tuple[str, str], ...]:
        """Blocks, where they are asked for."""
        return (("flow", "cut into blocks"),) if self.by_blocks else ()

    def plainer(self, failure: str) -> "CpuTarget | None":
        """Without blocks; without them, there is one way to compile for CPUs."""
        return replace(self, by_blocks=False) if self.by_blocks else None

    def assembled(self, code: bytes, timeout: float, runs: CompilerRuns) -> Assembled:
        """`code`, which IREE linked."""
        return Assembled(code)

    @property
    def variants(self) -> Mapping[str, Mapping[str, Any]]:
        """`VARIANTS`, as changes of the default target."""
        return VARIANTS

    def variant(self, name: str) -> "CpuTarget":
        """This target, compiled for in the way that `VARIANTS` knows as `name`."""
        return replace(self, **VARIANTS[name])

    @functools.cache  # noqa: B019 - targets are few, small and live as long as the process
    def fingerprint(self) -> str:
        """SHA-256 over the flags, the compiler's version, our own functions and, for "host", this CPU's features."""
        parts = [*self.compile_flags(), version(COMPILER_PACKAGE), elementary.fingerprint()]
        if self.by_blocks:
            parts += [str(self.edits), worker.fingerprint()]
        if self.cpu == "host":
            parts.append(host_cpu())
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


# The ways to compile a region that regions may state, as changes of the default target.
VARIANTS: dict[str, Mapping[str, Any]] = {
    "default": {},
    "data-tiling": {"data_tiling": True},
    "undistributed": {"distribution": False},
    "aggressive-fusion": {"aggressive_fusion": True},
    "rows-by-twos": {"rows_by_twos": True},
    "by-blocks": {"by_blocks": True},
}

IREE_DRIVERS = ("local-sync", "local-task")
"""Drivers of IREE's runtime: the calling thread, and a pool of threads."""

DRIVERS = ("plan", *IREE_DRIVERS)
"""What launches a region: its plan, or a driver of IREE's."""

ALIGNMENT = 64
"""Bytes. IREE's CPU code assumes it of each binding, and faults on less; torch allocates to it, but views may start
anywhere."""

LOCAL_TASK_BYTES = 2 << 20
"""Bytes read and written by a region from which the thread pool ("local-task") beats the calling thread.

Waking the pool costs 10-60 us. On 2 cores the two met at 0.5 MiB for softmax and 4-8 MiB for an addition and a layer
norm; 2 MiB lies between (table in docs/iree-region-abi.md). A caller that knows a region to compute much per byte may
count its bytes more than once.
"""


def is_summed_by_twos(op: "ir.Operation") -> bool:
    """Whether the variant `rows-by-twos` adds up the rows of `op` where it computes them, and the default does not."""
    from dovetail.backends.elementary import expand  # needs MLIR, as above

    return expand.is_summed_by_twos(op)


def choose_driver(work_bytes: int) -> str:
    """The IREE driver for a region that reads and writes `work_bytes` a call."""
    return "local-task" if work_bytes >= LOCAL_TASK_BYTES else "local-sync"


# LLVM's names of all x86 CPUs of 64 bits that lack AVX2. No more are to come.
_NARROW = frozenset(
    "x86-64 x86-64-v2 nocona core2 penryn nehalem corei7 westmere sandybridge corei7-avx ivybridge core-avx-i"
    " atom bonnell silvermont slm goldmont goldmont-plus tremont k8 athlon64 athlon-fx opteron k8-sse3 athlon64-sse3"
    " opteron-sse3 amdfam10 barcelona btver1 btver2 bdver1 bdver2 bdver3".split()
)


def _has_wide_vectors(cpu: str) -> bool:
    """Whether LLVM's `cpu` has vectors of 32 bytes; for shorter ones, transposing 64 x 64 takes a minute to compile."""
    if cpu == "host":
        return platform.machine() != "x86_64" or "avx2" in host_cpu().split()
    return cpu not in _NARROW


def host_cpu() -> str:
    """Describes this machine's CPU: model and features where Linux tells them, else what Python knows."""
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.exists():
        return f"{platform.system()} {platform.machine()} {platform.processor()}"
    first_core = cpuinfo.read_text().split("\n\n", 1)[0]
    decisive = ("vendor_id", "cpu family", "model", "flags", "Features", "CPU implementer", "CPU part")
    lines = [line for line in first_core.splitlines() if line.partition(":")[0].strip() in decisive]
    return f"{platform.machine()}\n" + "\n".join(lines)


# By what `dovetail.target` of a module says: torch's device type, and of a GPU the architecture.
TARGETS: dict[str, Callable[[], Target]] = {
    "cpu": CpuTarget,
    **{f"cuda:{each}": functools.partial(CudaTarget, each) for each in ARCHITECTURES},
}


def target_for_device(device: str) -> Target:
    """The default target of a device, `"cpu"` or `"cuda:sm_90"`. Raises OptionError, naming the valid ones."""
    if device not in TARGETS:
        raise OptionError(f"unsupported device '{device}'; expected one of: {', '.join(sorted(TARGETS))}")
    return TARGETS[device]()
