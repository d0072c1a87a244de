"""Runs of IREE's compiler that are kept from one test for the next."""

import hashlib
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from dovetail.backends.base_target import COMPILER_PACKAGE
from dovetail.backends.compiling.cache import RegionCache
from dovetail.backends.compiling.compiler_runs import CompilerRuns, Run
from dovetail.backends.host_cpu import host_cpu


def remembering(
    run: Callable[[CompilerRuns, Sequence[str], str, float], Run], folder: Path
) -> Callable[[CompilerRuns, Sequence[str], str, float], Run]:
    """`CompilerRuns.run`, but for what it gave for the same text, flags, compiler and processor, kept in `folder`.

    `CompilerRuns.run_passes`, too, whose passes are in the place of flags.
    """
    machine, kept = (version(COMPILER_PACKAGE), host_cpu()), RegionCache(folder)

    def remembered(runs: CompilerRuns, flags: Sequence[str], source: str, timeout: float) -> Run:
        key = hashlib.sha256("\0".join((*machine, run.__name__, *flags, source)).encode()).hexdigest()
        output = kept.read(key)
        if output is not None:
            return Run(output, "")
        found = run(runs, flags, source, timeout)
        if not found.failure:
            kept.store(key, found.output)
        return found

    return remembered
