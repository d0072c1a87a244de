"""Regions that a test compiles, and waits for."""

from collections.abc import Mapping

from dovetail.backends.base_target import Target
from dovetail.backends.compiling.cache import RegionCache
from dovetail.backends.compiling.iree import Compilation
from dovetail.backends.compiling.outcomes import Outcome


def compile_regions(
    sources: Mapping[str, str],
    target: Target,
    *,
    timeout: float,
    jobs: int | None = None,
    cache: RegionCache | None = None,
    plans: bool = False,
) -> dict[str, Outcome]:
    """The outcomes of a `Compilation`, once all are compiled; raises as that does."""
    return Compilation(sources, target, timeout=timeout, jobs=jobs, cache=cache, plans=plans).outcomes()
