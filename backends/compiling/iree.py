"""Compiles regions with IREE in worker processes, several at once; whatever goes wrong there stays there."""

from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import suppress

import torch

from dovetail.backends.base_target import Target
from dovetail.backends.compiling import iree_worker
from dovetail.backends.compiling.batches import BatchCompiler, batches
from dovetail.backends.compiling.cache import RegionCache, region_key
from dovetail.backends.compiling.compiler_runs import CompilerRuns
from dovetail.backends.compiling.outcomes import CompileFailure, Outcome, cached, store
from dovetail.backends.compiling.strands import strands

# Failures of this process's lifetime, by region key and time limit: a region that crashed the compiler once isn't tried
# again. Kept in memory only, so that a time-out on a busy machine can't outlive the process.
_failures: dict[tuple[str, float], CompileFailure] = {}


class Compilation:
    """Regions that are being compiled, from texts (form: docs/iree-region-abi.md); equal texts are compiled once.

    Regions share processes, since most of a compiler run is the same for one region and for twenty; a batch that fails
    is halved until the region at fault stands alone. Whoever begins one asks for its `outcomes`, or stops it.

    Args:
        sources: MLIR text in the torch dialect, by region name.
        target: what to compile for.
        timeout: seconds for each compiler run.
        jobs: processes at once; by default as many as PyTorch may use threads.
        cache: where to look first and store afterwards; None compiles always.
        plans: whether to read launch plans; only what has none then gets a module for IREE's runtime.

    Attributes:
        target: what is compiled for.
    """

    def __init__(
        self,
        sources: Mapping[str, str],
        target: Target,
        *,
        timeout: float,
        jobs: int | None = None,
        cache: RegionCache | None = None,
        plans: bool = False,
    ) -> None:
        self._keys = {name: region_key(source, target, plans) for name, source in sources.items()}
        self.target, self._sources = target, sources
        self._timeout, self._jobs, self._cache = timeout, jobs, cache
        distinct = {self._keys[name]: source for name, source in sources.items()}
        self._outcomes: dict[str, Outcome] = {
            key: _failures[key, timeout] for key in distinct if (key, timeout) in _failures
        }
        if cache is not None:
            self._outcomes |= {key: found for key in distinct if (found := cached(key, cache)) is not None}
        missing = {key: source for key, source in distinct.items() if key not in self._outcomes}
        if missing:
            with suppress(OSError):  # who asks it is told
                iree_worker.worker.start(edits=False)  # imports while texts are made
        # What has no driver runs by plans of its own form.
        taken_apart = {key: strands(source) for key, source in missing.items()} if plans and target.drivers else {}
        split = {key: each for key, each in taken_apart.items() if each}
        workers = jobs or torch.get_num_threads()
        self._runs = CompilerRuns(is_threaded=workers > 1)
        compiler = BatchCompiler(target, timeout, plans, self._runs)
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="dovetail-compile")
        self._compiling: list[Future[dict[str, Outcome]]] = []
        try:
            for batch in batches(missing, split, workers):
                self._compiling.append(self._pool.submit(compiler.compile_strands, batch, split))
        except BaseException:  # the user's Ctrl-C: nobody can stop what is not made yet
            self.stop()
            raise

    def outcomes(self) -> dict[str, Outcome]:
        """For each name what runs the region, or what went wrong; waits until all are compiled.

        Raises:
            StartError: if the compiler can't be started, which is no region's fault.
        """
        try:
            for compiled in as_completed(self._compiling):
                self._keep(compiled.result())
        except BaseException:  # the user's Ctrl-C, or a compiler that does not start
            self.stop()
            raise
        self._pool.shutdown()
        return {name: self._outcomes[key] for name, key in self._keys.items()}

    def without_plans(self, names: Iterable[str]) -> "Compilation":
        """Another one, begun: of these regions alone, each to a module for IREE's runtime."""
        sources = {name: self._sources[name] for name in names}
        return Compilation(sources, self.target, timeout=self._timeout, jobs=self._jobs, cache=self._cache)

    def stop(self) -> None:
        """Ends what compiles: nobody takes the outcomes."""
        self._runs.stop()
        self._pool.shutdown(cancel_futures=True)

    def _keep(self, compiled: Mapping[str, Outcome]) -> None:
        self._outcomes |= compiled
        for key, outcome in compiled.items():
            if isinstance(outcome, CompileFailure):
                _failures[key, self._timeout] = outcome
            elif self._cache is not None and outcome.is_kept:
                store(key, outcome, self._cache)
