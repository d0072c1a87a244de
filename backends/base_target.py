"""What all targets are: frozen, hashable, and beside their parts all that chooses compiler flags."""

import functools
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Self

from dovetail.backends.compiling.compiler_runs import CompilerRuns, Run
from dovetail.backends.cuda.assembler import Assembled

COMPILER_PACKAGE = "iree-base-compiler"

COMMON_FLAGS = (
    "--iree-input-type=torch",
    # Otherwise float64 regions would silently compute in float32.
    "--iree-input-demote-f64-to-f32=false",
    # Computed by a program of their own when a module is loaded, which no plan could say.
    "--iree-opt-const-expr-hoisting=false",
    # A concatenation on an inner dimension else costs a transposition of every operand.
    "--iree-opt-outer-dim-concat=false",
)
"""Of IREE's compiler, that every target's code is made with."""

_OF_CODE = ("--iree-llvmcpu-", "--iree-hal-")


@functools.cache
def sources_digest(folder: str) -> str:
    """SHA-256, in hex, over the sources of a folder here, which decide code as the compiler's flags do."""
    sources = sorted((Path(__file__).parent / folder).glob("*.py"))
    return hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()


@dataclass(frozen=True)
class Target(ABC):
    """What a region is compiled for. Every field decides code, so every field is part of the fingerprint.

    Attributes:
        name: IREE's backend, which makes the code.
        device: the type of device, in torch's words.
        drivers: those of IREE's runtime that run a region without a plan; none where nothing does.
        variants: the ways to compile a region that tuning compares, by name, as changes of the default target.
    """

    name: ClassVar[str]
    device: ClassVar[str]
    drivers: ClassVar[tuple[str, ...]] = ()
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {"default": {}}

    def variant(self, name: str) -> Self:
        """This target, compiled for in the way that `variants` knows as `name`."""
        return replace(self, **self.variants[name])

    @abstractmethod
    def compile_flags(self) -> tuple[str, ...]:
        """Flags of `iree-compile` for regions in the torch dialect."""

    def code_flags(self) -> tuple[str, ...]:
        """Those flags of `compile_flags` that decide how kernels become code, which `iree-opt` takes as well."""
        return tuple(flag for flag in self.compile_flags() if flag.startswith(_OF_CODE))

    @abstractmethod
    def prepared(self, text: str) -> str:
        """What the compiler is given for `text`, a module of regions in the torch dialect."""

    @property
    def edits(self) -> Mapping[str, str]:
        """Phases of IREE's at which its text is edited, in order, and what the worker is to do there."""
        return {}

    @property
    def why_plain(self) -> str:
        """Why kernels are left to IREE as they are, where nothing is edited."""
        return ""

    @property
    def plain_kernels(self) -> tuple[tuple[str, str], ...]:
        """The kernels alone that are left to IREE as they are, by their names in code, and why."""
        return ()

    @abstractmethod
    def plainer(self, region: str, failure: str, refused: Mapping[str, str]) -> Self | None:
        """This target, with `region` compiled in a plainer way after this one gave `failure`; None if there is none.

        `refused` are the kernels that it is about, by name, with the reason for each; none where it is about all.
        """

    def assembled(self, code: bytes, timeout: float, runs: CompilerRuns) -> Assembled | Run:
        """What the device runs of the `code` that IREE made, in at most `timeout` seconds; the run if it failed."""
        return Assembled(code)

    @functools.cache  # noqa: B019 - targets are few, small and live as long as the process
    def fingerprint(self) -> str:
        """SHA-256, in hex, over all that decides code: flags, the compiler's version, the worker, and `decided_by`.

        The worker decides even where it edits nothing: kernels that an older one did not refuse must not be found.
        """
        parts = [*self.compile_flags(), version(COMPILER_PACKAGE), sources_digest("worker"), *self.decided_by()]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @abstractmethod
    def decided_by(self) -> Iterable[str]:
        """What decides code besides the compiler, its flags and the worker."""
