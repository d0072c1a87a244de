"""Whole programs from the cache: what an earlier process traced and compiled is loaded, and nothing is traced.

A key is the SHA-256 of all that decides a program: the call (`frontend/program_key`), the options, the CPU and the
compiler's flags, the versions of the libraries, and Dovetail's own sources. An entry is an artifact: the final IR as
text, and the code that it names. What has no key, or is not kept, `dovetail.stats().programs` counts with the reason.
"""

import functools
import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import torch
from torch_mlir import ir

from dovetail import backends, dialects, frontend, passes, runtime
from dovetail.backends.base_target import COMPILER_PACKAGE
from dovetail.backends.compiling.cache import RegionCache
from dovetail.backends.target import CpuTarget
from dovetail.dialects.reading import Module
from dovetail.dialects.statements.plans import plans
from dovetail.dialects.statements.target import device_type
from dovetail.errors import ArtifactError, OptionError
from dovetail.frontend.program_key import call_text
from dovetail.frontend.program_key.unkeyed import Unkeyed
from dovetail.loading import made
from dovetail.options import Options
from dovetail.passes.regions.inline_regions import InlineRegionsPass
from dovetail.passes.regions.split_region import SplitRegionPass
from dovetail.passes.running.runner import Runner
from dovetail.runtime.artifact import RUNTIME_PACKAGE, load_artifact, packed
from dovetail.runtime.launches.iree_executable import Executable
from dovetail.runtime.load_plan import Launcher, unavailable
from dovetail.runtime.stats import current

SWITCH = "DOVETAIL_CACHE_PROGRAMS"
"""The variable of the environment that is "0" where only regions are to come from the cache."""

_LIBRARIES = ("torch-mlir", COMPILER_PACKAGE, RUNTIME_PACKAGE)
_FOLDERS = (frontend, dialects, passes, backends, runtime)


class ProgramEntry:
    """The place in the cache of the program for a call of `gm` on `inputs`, whether it is there or not."""

    def __init__(self, gm: torch.fx.GraphModule, inputs: Sequence, options: Options, shows_stages: bool):
        self._cache = RegionCache()
        self._key, self._why = "", ""
        if not options.cache:
            self._why = "not kept: the option 'cache' is off"
        elif not _is_on():
            self._why = f"not kept: {SWITCH}=0"
        elif shows_stages:
            self._why = "not kept: its stages are dumped or explained"
        elif options.tune:
            self._why = "not kept: what tuning measured is kept by region"
        else:
            try:
                self._key = _key(call_text(gm, inputs), options)
            except Unkeyed as error:
                self._why = f"not kept: {error}"

    def load(self) -> tuple[ir.Module, Mapping[str, Launcher]] | None:
        """The final module and what runs its regions; None where there is no sound entry."""
        contents = self._cache.read(self._key) if self._key else None
        if contents is None:
            self._why = "compiled, since its entry was damaged" if self._cache.damaged else self._why
            return None
        try:
            module, executables = load_artifact(self._path(), contents)
        except ArtifactError as error:
            self._why = f"compiled, since its entry can't be loaded: {error}"
            return None
        stats, regions = current(), made(module)
        # An artifact's regions that IREE's runtime runs are counted where they are loaded.
        stats.executables += len({regions[name] for name in plans(module)})
        stats.cache_hits += len(set(regions.values()))
        stats.programs["from the cache"] += 1
        return module, executables

    def store(self, module: ir.Module, executables: Mapping[str, Launcher], runner: Runner) -> None:
        """Keeps a module at level `launches` as it was made, unless making it again may come out better."""
        if self._key:
            try:
                refused = _refused(module, executables, runner)
                if not refused:
                    self._cache.store(self._key, packed(self._path(), module, executables, CpuTarget()))
            except ArtifactError as error:  # it takes too much
                refused = str(error)
            self._why = f"not kept: {refused}" if refused else self._why
        current().programs[self._why or "compiled"] += 1

    def _path(self) -> Path:
        """What messages call the entry."""
        return Path(f"program-{self._key[:16]}")


def _is_on() -> bool:
    """What the environment says; raises OptionError for a value that it can't have."""
    value = os.environ.get(SWITCH, "1")
    if value not in ("0", "1"):
        raise OptionError(f"{SWITCH}={value}: expected 0 or 1")
    return value == "1"


def _refused(module: ir.Module, executables: Mapping[str, Launcher], runner: Runner) -> str:
    """Why `module` is not kept; "" if it is."""
    if device_type(module) != "cpu":
        return "a program for a GPU"
    if {InlineRegionsPass.name, SplitRegionPass.name} & runner.seconds.keys():
        return "a region did not compile, which is tried again"
    if Module(module).regions.keys() != executables.keys():
        return "a region runs op by op"
    if any(isinstance(each, Executable) and not each.compiled.is_kept for each in executables.values()):
        return "a launch plan could not be read, which is tried again"
    return ""


def _key(call: str, options: Options) -> str:
    """SHA-256, in hex, over `call` and all else that decides its program."""
    parts = (
        repr(options),
        CpuTarget().fingerprint(),
        unavailable("cpu"),
        sys.version,
        torch.__version__,
        str(torch.version.git_version),
        *map(version, _LIBRARIES),
        _sources(),
        call,
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@functools.cache
def _sources() -> str:
    """SHA-256, in hex, over all of Dovetail that compiles and runs programs: its version, to the letter."""
    folders = [Path(__file__).parent, *(Path(path) for package in _FOLDERS for path in package.__path__)]
    found = (path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in (".py", ".so"))
    digests = (f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in found)
    return hashlib.sha256("\0".join((version("dovetail"), *digests)).encode()).hexdigest()
