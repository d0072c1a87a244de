"""Runs seeds in several processes. A program that takes its process down, or never ends, is an outcome like others."""

import gc
import logging
import math
import multiprocessing
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, SpawnContext

from dovetail.tools.fuzz.check import Outcome
from dovetail.tools.fuzz.compare import Difference

_SECONDS = 600  # for one program; judging a million elements takes a minute
_PROGRAMS = 500  # of one process; Dynamo does not give everything back


@dataclass(frozen=True)
class Job:
    """What a process runs of a seed: on which backend, whether regions go through IREE, and what kind of program."""

    seed: int
    backend: str
    iree: bool
    kind: str = "alias"


@dataclass
class _Worker:
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    job: Job | None = None
    since: float = 0.0
    done: int = 0


@dataclass
class Workers:
    """A number of processes that run jobs; programs make their tensors on `device`."""

    count: int
    device: str = "cpu"
    _idle: list[_Worker] = field(default_factory=list)

    def run(self, jobs: Iterable[Job], end: float = math.inf) -> Iterator[tuple[Job, Outcome]]:
        """Yields each job's outcome, as they end; a job that runs at `end`, by the monotonic clock, has none."""
        waiting = iter(jobs if time.monotonic() < end else ())
        busy = [worker for _ in range(self.count) if (worker := self._next(waiting))]
        while busy and time.monotonic() < end:
            ready = wait([each.pipe for each in busy], timeout=1.0)
            for worker in list(busy):
                outcome = _outcome(worker, worker.pipe in ready)
                if outcome is None:
                    continue
                assert worker.job is not None
                yield worker.job, outcome
                busy.remove(worker)
                if worker.done < _PROGRAMS and worker.process.is_alive():
                    self._idle.append(worker)
                else:
                    _stop(worker)
                if following := self._next(waiting):
                    busy.append(following)
        for worker in busy:
            worker.process.kill()
            worker.process.join()
        for worker in self._idle:
            _stop(worker)
        self._idle.clear()

    def _next(self, jobs: Iterator[Job]) -> _Worker | None:
        """A worker with the next job; None when there is none."""
        job = next(jobs, None)
        if job is None:
            return None
        worker = self._idle.pop() if self._idle else _start(self.device)
        worker.job, worker.since = job, time.monotonic()
        worker.pipe.send(job)
        return worker


def _outcome(worker: _Worker, is_ready: bool) -> Outcome | None:
    """What the worker has to say: nothing yet, an outcome, or that it is gone."""
    if is_ready:
        try:
            worker.done += 1
            return worker.pipe.recv()
        except EOFError:
            worker.process.join()
            return _crash(f"the process ended with {worker.process.exitcode}")
    if time.monotonic() - worker.since > _SECONDS:
        worker.process.kill()
        worker.process.join()
        return _crash(f"did not end in {_SECONDS} s")
    return None


def _crash(what: str) -> Outcome:
    return Outcome("different", (Difference("crashed", 0, "the process", "ends", what),))


def _start(device: str) -> _Worker:
    # A process that crashed is replaced without another import of PyTorch; no fork can use a GPU after its parent did.
    context: ForkServerContext | SpawnContext = ForkServerContext() if device == "cpu" else SpawnContext()
    context.set_forkserver_preload(["dovetail.tools.fuzz.check", "torch._dynamo"])
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, device), daemon=False)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _stop(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.join()


def _serve(pipe: Connection, device: str) -> None:
    import torch

    from dovetail.tools.fuzz.check import check_forms
    from dovetail.tools.fuzz.seeds import programs

    torch.set_num_threads(1)
    if device != "cpu":
        torch.set_default_device(device)
    gc.freeze()  # tracing makes so many objects that collecting takes an eighth of the time
    gc.set_threshold(100_000, 50, 100)
    torch._dynamo.config.run_gc_after_compile = False
    logging.disable(logging.ERROR)  # Dynamo's, about graph breaks
    torch._dynamo.guards.profile_guard_manager = lambda *_: 0.0  # empties the processor's caches to time guards
    torch._dynamo.utils._scrubbed_inductor_config_for_logging = lambda: None  # Inductor's options, for a log
    # Counts that no CPU's generator has.
    torch._decomp.decompositions_for_rng.PhiloxState.reset = lambda _: None  # type: ignore[method-assign]
    while True:
        try:
            job: Job = pipe.recv()
        except EOFError:
            return
        pipe.send(check_forms(programs(job.kind, job.seed), job.backend, job.iree))
