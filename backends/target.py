"""Compilation targets: CPUs, and by name all that a module may be for; what launches their regions."""

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dovetail.backends.base_target import COMMON_FLAGS, Target, sources_digest
from dovetail.backends.cuda.target import ARCHITECTURES, CudaTarget
from dovetail.backends.host_cpu import has_wide_vectors, host_cpu
from dovetail.backends.worker.agreed import WIDE_BITS as WIDE_BITS  # passes place by it what the worker reads
from dovetail.errors import OptionError

if TYPE_CHECKING:
    from torch_mlir import ir


# The ways to compile a region that regions may state, as changes of the default target.
VARIANTS: dict[str, Mapping[str, Any]] = {
    "default": {},
    "data-tiling": {"data_tiling": True},
    "undistributed": {"distribution": False},
    "aggressive-fusion": {"aggressive_fusion": True},
    "rows-by-twos": {"rows_by_twos": True},
    "by-blocks": {"by_blocks": True},
    "by-parts": {"by_parts": True},
}

IREE_DRIVERS = ("local-sync", "local-task")
"""Drivers of IREE's runtime: the calling thread, and a pool of threads."""


@dataclass(frozen=True)
class CpuTarget(Target):
    """A CPU.

    Attributes:
        cpu: LLVM's CPU name; "host" is resolved by the machine that compiles.
        data_tiling: pack matrix operands into tiles. From 512 x 512 x 512 up it equals or beats MKL, but a
            matrix-vector product becomes 9x slower, so it is chosen per region.
        opt_level: IREE's global optimization level. O2 halves the time of softmax and layer norm against the
            default, for the same compile time; O3 gave the same code as O2 (docs/iree-region-abi.md).
        distribution: cut loops into pieces for several threads.
        aggressive_fusion: fuse more of a region's loops into one than IREE thinks good.
        rows_by_twos: cut loops into pieces of two rows, where IREE's own may have an odd number of them.
        by_blocks: cut loops that reach tensors across their rows into blocks; else what is transposed is copied before.
        by_parts: have what computes parts of a concatenation write them where they belong; else they are copied there.
    """

    cpu: str = "host"
    data_tiling: bool = False
    opt_level: str = "O2"
    distribution: bool = True
    aggressive_fusion: bool = False
    rows_by_twos: bool = False
    by_blocks: bool = False
    by_parts: bool = False
    name = "llvm-cpu"
    device = "cpu"
    drivers = IREE_DRIVERS
    variants = VARIANTS

    def compile_flags(self) -> tuple[str, ...]:
        return (
            *COMMON_FLAGS,
            "--iree-hal-target-device=local",
            f"--iree-hal-local-target-device-backends={self.name}",
            f"--iree-llvmcpu-target-cpu={self.cpu}",
            f"--iree-opt-level={self.opt_level}",
            # What follows from that level; `iree-opt` must be told.
            f"--iree-llvmcpu-mlir-opt-level={self.opt_level}",
            f"--iree-llvmcpu-reassociate-fp-reductions={str(self.opt_level >= 'O2').lower()}",
            f"--iree-opt-data-tiling={str(self.data_tiling).lower()}",
            "--iree-llvmcpu-debug-symbols=false",
            # Sums of products come out as scalars, which LLVM packs again.
            "--iree-llvmcpu-slp-vectorization=true",
            # Four vectors at a time: each hides the others' latency.
            f"--iree-llvmcpu-target-vector-width-in-bytes={256 if has_wide_vectors(self.cpu) else 64}",
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
    def edits(self) -> Mapping[str, str]:
        """Blocks and parts, where they are asked for."""
        parts = {"global-optimization": "write parts"} if self.by_parts else {}
        return parts | ({"flow": "cut into blocks"} if self.by_blocks or self.by_parts else {})

    def plainer(self, region: str, failure: str, refused: Mapping[str, str]) -> "CpuTarget | None":
        """Without edits; without them, there is one way to compile for CPUs."""
        return replace(self, by_blocks=False, by_parts=False) if self.edits else None

    def decided_by(self) -> Iterator[str]:
        """Our own functions and edits and, for "host", this CPU's features."""
        yield sources_digest("elementary")
        if self.edits:
            yield str(self.edits)
        if self.cpu == "host":
            yield host_cpu()


DRIVERS = ("plan", *IREE_DRIVERS)
"""What launches a region: its plan, or a driver of IREE's."""

ALIGNMENT = 64
"""Bytes. IREE's CPU code assumes it of each binding, and faults on less; torch allocates to it, but views may start
anywhere."""

ALIGNMENT_ON_GPUS = 16
"""The same of a GPU: the widest load faults on less. torch allocates to 512."""

LOCAL_TASK_BYTES = 2 << 20
"""Bytes read and written by a region from which the thread pool ("local-task") beats the calling thread.

Waking the pool costs 10-60 us. On 2 cores the two met at 0.5 MiB for softmax and 4-8 MiB for an addition and a layer
norm; 2 MiB lies between (table in docs/iree-region-abi.md). A caller that knows a region to compute much per byte may
count its bytes more than once.
"""


SINGLE_ROWS = range(128, 2049)
"""Numbers of a row of which IREE takes too many at once: the lines of the first cache that they go to are the same few.
Of shorter rows the sum of a vector's lanes is too much of the work, and of longer ones IREE takes fewer. The variant
`by-blocks` takes them one by one."""


def is_summed_by_twos(op: "ir.Operation") -> bool:
    """Whether the variant `rows-by-twos` adds up the rows of `op` where it computes them, and the default does not."""
    from dovetail.backends.elementary import expand  # needs MLIR, as above

    return expand.is_summed_by_twos(op)


def choose_driver(work_bytes: int) -> str:
    """The IREE driver for a region that reads and writes `work_bytes` a call."""
    return "local-task" if work_bytes >= LOCAL_TASK_BYTES else "local-sync"


# By what `dovetail.target` of a module says: torch's device type, and of a GPU the architecture.
TARGETS: dict[str, Callable[[], Target]] = {
    "cpu": CpuTarget,
    **{f"cuda:{architecture}": functools.partial(CudaTarget, architecture) for architecture in ARCHITECTURES},
}


def target_for_device(device: str) -> Target:
    """The default target of a device, `"cpu"` or `"cuda:sm_90"`. Raises OptionError, naming the valid ones."""
    if device not in TARGETS:
        raise OptionError(f"unsupported device '{device}'; expected one of: {', '.join(sorted(TARGETS))}")
    return TARGETS[device]()
