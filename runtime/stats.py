"""What the compiler did and what the runtime paid for it, counted; `dovetail.stats()` shows it."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field

from rich.console import Console
from rich.filesize import decimal
from rich.table import Column, Table

PLACEMENTS = ("region", "library", "view", "fallback")


@dataclass
class Stats:
    """Counts since the process started, or since `dovetail.stats(reset=True)`.

    Attributes:
        graphs: compiled programs; devices: the same by the device that they are for.
        programs: the same by where they come from: "compiled", "from the cache", or why one is not kept there, or
            was not taken from there.
        regions: regions in them; executables: distinct ones among those; cache_hits: on disk before.
        ops: operations of the programs by where they run: "region" (compiled), "library" (a vendor kernel on
            purpose), "view" (no work), "fallback" (ATen, for want of anything better).
        flops: floating-point operations by the same keys, as far as shapes tell.
        variants: programs compiled anew because a call's arguments share memory in another way than before.
        launches: regions of the programs by what launches them: "plan", or something slower and the reason: Python on
            a GPU, "iree.runtime" on a CPU.
        kernels: launches on GPUs by the form that their kernel is tiled in, or why IREE tiled it in its own way.
        specialised: graphs whose sizes, which Dynamo left open, are fixed to those of one call, by reason; and single
            sizes that are, by what asks for them.
        eager: graphs, or calls of them, that run uncompiled, by reason.
        traced_anew: graphs that PyTorch ran twice to trace them, by why one run did not do.
        failures: regions that did not compile, by reason; splits: how many of them were halved and tried again.
        kept_apart: regions whose results get memory of their own though operands die there, by why no plan shows that
            these are read before.
        tuned: regions by what tuning chose for them; measurements: how many alternatives it measured for that.
        recordings: calls of a program's functions that were recorded as CUDA graphs, to be replayed.
        without_effect: what options asked for and a program does not do, by option and reason.
        library_calls: (op, reason) of every library call and fallback in the programs.
        saved_bytes: bytes kept from forward to backward, one call of each program; held_bytes: of arguments besides
            that are no parameters or buffers, kept for a second derivative alone, whether or not their caller does.
        copies: copies made while running, by reason.
        compile_seconds: by stage ("tuning" is one with that option), and "total".
    """

    graphs: int = 0
    devices: Counter = field(default_factory=Counter)
    programs: Counter = field(default_factory=Counter)
    regions: int = 0
    executables: int = 0
    cache_hits: int = 0
    variants: int = 0
    launches: Counter = field(default_factory=Counter)
    kernels: Counter = field(default_factory=Counter)
    specialised: Counter = field(default_factory=Counter)
    eager: Counter = field(default_factory=Counter)
    traced_anew: Counter = field(default_factory=Counter)
    ops: Counter = field(default_factory=Counter)
    flops: Counter = field(default_factory=Counter)
    failures: Counter = field(default_factory=Counter)
    splits: int = 0
    kept_apart: Counter = field(default_factory=Counter)
    tuned: Counter = field(default_factory=Counter)
    measurements: int = 0
    recordings: int = 0
    without_effect: Counter = field(default_factory=Counter)
    library_calls: Counter = field(default_factory=Counter)
    saved_bytes: int = 0
    held_bytes: int = 0
    copies: Counter = field(default_factory=Counter)
    compile_seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def __str__(self) -> str:
        console = Console(width=110, color_system=None)
        with console.capture() as capture:
            console.print(
                f"graphs: {self.graphs}, regions: {self.regions} ({self.executables} distinct, {self.cache_hits} from"
                f" the cache), {decimal(self.saved_bytes)} saved for backward"
            )
            placed = Table(
                "runs in", Column("ops", justify="right"), Column("FLOPs", justify="right"), title="operations"
            )
            for placement in PLACEMENTS:
                placed.add_row(placement, str(self.ops[placement]), f"{self.flops[placement]:.3g}")
            console.print(placed)
            for title, counts in (
                ("programs are for", self.devices if set(self.devices) != {"cpu"} else Counter()),
                ("programs come from", self.programs if set(self.programs) != {"compiled"} else Counter()),
                ("run eagerly", self.eager),
                ("sizes fixed to those of one call", self.specialised),
                ("traced in two runs", self.traced_anew),
                ("options without effect", self.without_effect),
                ("regions are launched by", self.launches),
                ("kernels on GPUs are tiled as", self.kernels),
                ("library calls", self.library_calls),
                (f"tuned regions, by {self.measurements} measurements", self.tuned),
                (f"regions that did not compile, {self.splits} of them split", self.failures),
                ("regions whose results lie apart from operands that die", self.kept_apart),
                ("copies while running", self.copies),
            ):
                table = Table(Column("count", justify="right"), "what", title=title)
                for key, count in counts.most_common():
                    table.add_row(str(count), " - ".join(key) if isinstance(key, tuple) else key)
                if counts:
                    console.print(table)
            seconds = Table("stage", Column("seconds", justify="right"), title="compilation")
            for stage, value in sorted(self.compile_seconds.items(), key=lambda item: item[0] == "total"):
                seconds.add_row(stage, f"{value:.3f}")
            if self.compile_seconds:
                console.print(seconds)
        return capture.get()


_stats = Stats()


def stats(reset: bool = False) -> Stats:
    """Returns a copy of the counts; `reset` starts them anew."""
    global _stats
    snapshot = deepcopy(_stats)
    if reset:
        _stats = Stats()
    return snapshot


def current() -> Stats:
    """The live counts, for the compiler and the runtime to add to."""
    return _stats


def count_copy(reason: str) -> None:
    """Counts one copy made while running."""
    _stats.copies[reason] += 1


@contextmanager
def timed(stage: str) -> Iterator[None]:
    """Adds the wall-clock seconds inside to `stage`, less those of the stages within it, and to "total"."""
    seconds = _stats.compile_seconds
    total, started = seconds.get("total", 0.0), time.perf_counter()
    try:
        yield
    finally:  # what fails costs time as well
        own = time.perf_counter() - started - (seconds.get("total", 0.0) - total)
        seconds[stage] += own
        seconds["total"] += own
