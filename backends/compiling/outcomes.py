"""What compiling a region comes to, and how the cache holds it."""

import hashlib
import json
from dataclasses import dataclass

from dovetail.backends.compiling.cache import RegionCache
from dovetail.backends.compiling.compiler_runs import Cause
from dovetail.backends.compiling.launch_plans import LaunchPlan


@dataclass(frozen=True)
class CompileFailure:
    """Why a region could not be compiled.

    Attributes:
        reason: one line: "error: ...", "crash: SIGSEGV" or "time-out after 60 s".
        diagnostics: what the compiler wrote to stderr.
        reproducer: a shell command that shows the failure again, on a file that holds the region's text.
        cause: what kind of failure it was.
    """

    reason: str
    diagnostics: str
    reproducer: str
    cause: Cause = Cause.ERROR


@dataclass(frozen=True)
class CompiledRegion:
    """What runs a region through IREE's runtime.

    Attributes:
        module: for that runtime; entry: the name of the region's function there.
        why_unplanned: why there is no launch plan instead, "" where none was asked for.
        is_kept: whether the cache keeps it: not where reading the plan failed, which may go well the next time.
    """

    module: bytes
    entry: str
    why_unplanned: str = ""
    is_kept: bool = True


Outcome = LaunchPlan | CompiledRegion | CompileFailure


def cached(key: str, cache: RegionCache) -> Outcome | None:
    """What `cache` holds of a region. Its entry names the module or the code, which many regions share."""
    entry = cache.read(key)
    if entry is None:
        return None
    facts = json.loads(entry)
    shared = cache.read(facts["shared"])
    if shared is None:
        return None
    cache.count_hit(key)
    if "plan" in facts:
        return LaunchPlan(facts["plan"], shared)
    return CompiledRegion(shared, facts["entry"], facts["why_unplanned"])


def store(key: str, outcome: LaunchPlan | CompiledRegion, cache: RegionCache) -> None:
    """Makes `cache` hold what runs a region."""
    if isinstance(outcome, LaunchPlan):
        facts = {"shared": _stored(outcome.code, cache), "plan": outcome.steps}
    else:
        shared = _stored(outcome.module, cache)
        facts = {"shared": shared, "entry": outcome.entry, "why_unplanned": outcome.why_unplanned}
    cache.store(key, json.dumps(facts).encode())


def _stored(shared: bytes, cache: RegionCache) -> str:
    """The key under which `cache` now holds `shared`."""
    key = hashlib.sha256(shared).hexdigest()
    if cache.read(key) is None:
        cache.store(key, shared)
    return key
