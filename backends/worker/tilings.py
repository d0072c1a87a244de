"""How IREE cuts loops and deals them to the threads of a GPU, as its attributes: the two forms that are asked of it."""

from dataclasses import dataclass
from math import prod

from dovetail.backends.worker.loops import Loops

LANES = 32
"""Threads of a subgroup."""
MOST_THREADS = 1024

_OPTIONS = (
    "{gpu_pipeline_options = #iree_gpu.pipeline_options<no_reduce_shared_memory_bank_conflicts = false, "
    "use_igemm_convolution = false>}"
)


@dataclass(frozen=True)
class Tiles:
    """How `TileAndFuse` cuts loops: elements of a thread, of a workgroup, and of a step of what is reduced, by loop."""

    threads: int
    thread: tuple[int, ...]
    workgroup: tuple[int, ...]

    def __post_init__(self) -> None:
        if not LANES <= self.threads <= MOST_THREADS or self.threads % LANES:
            raise ValueError(f"expected whole subgroups, at most {MOST_THREADS} threads, got {self.threads}")
        if prod(self.thread) * self.threads != prod(self.workgroup):
            raise ValueError(f"{self.threads} threads of {self.thread} elements are no workgroup of {self.workgroup}")

    def translation(self) -> str:
        """IREE's attribute of the function."""
        return (
            "#iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<TileAndFuse> "
            f"workgroup_size = [{self.threads}, 1, 1] subgroup_size = {LANES}>"
        )

    def of(self, loops: Loops, is_root: bool) -> str:
        """IREE's attribute of an op; all have the same."""
        return _attribute(thread=self.thread, workgroup=self.workgroup)


@dataclass(frozen=True)
class Distribution:
    """How `VectorDistribute` deals loops to threads; all of it by loop, outermost first.

    Attributes:
        reduced: whether the loop reduces.
        lanes: threads of a subgroup; subgroups: of a workgroup.
        thread: neighbouring elements of a thread; 0 as 1, of a loop of which each workgroup has one iteration.
        tile: iterations of one step along what is reduced, 0 elsewhere.
        workgroup: iterations of a workgroup; 0 along what is reduced.
    """

    reduced: tuple[bool, ...]
    lanes: tuple[int, ...]
    subgroups: tuple[int, ...]
    thread: tuple[int, ...]
    tile: tuple[int, ...]
    workgroup: tuple[int, ...]

    def __post_init__(self) -> None:
        if prod(self.lanes) != LANES or not 1 <= prod(self.subgroups) <= MOST_THREADS // LANES:
            raise ValueError(f"expected {LANES} lanes and up to 32 subgroups, got {self.lanes} and {self.subgroups}")
        for is_reduced, lanes, subgroups in zip(self.reduced, self.lanes, self.subgroups, strict=True):
            # Lanes read back what subgroups found: with too few of them IREE drops some, silently.
            if is_reduced and lanes < subgroups:
                raise ValueError(f"expected as many lanes as subgroups along what is reduced, got {lanes}, {subgroups}")

    @property
    def threads(self) -> int:
        """Of a workgroup."""
        return LANES * prod(self.subgroups)

    def translation(self) -> str:
        """IREE's attribute of the function."""
        return (
            "#iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<VectorDistribute> "
            f"workgroup_size = [{self.threads}, 1, 1] subgroup_size = {LANES}, {_OPTIONS}>"
        )

    def of(self, loops: Loops, is_root: bool) -> str:
        """IREE's attribute of an op: what reduces gathers partial results, what doesn't goes along in steps."""
        basis = list(range(len(self.lanes)))
        step = {"partial_reduction" if loops.reduces else "serial": self.tile}
        last = {"workgroup": self.workgroup} if is_root else {}
        bases = {"lane_basis": [list(self.lanes), basis], "subgroup_basis": [list(self.subgroups), basis]}
        return _attribute(**bases, thread=self.thread, **step, **last)


Configuration = Tiles | Distribution


def _attribute(**items: object) -> str:
    listed = {name: list(value) if isinstance(value, tuple) else value for name, value in items.items()}
    written = ", ".join(f"{name} = {value}" for name, value in listed.items())
    return f"#iree_gpu.lowering_config<{{{written}}}>"
