"""Runs a pipeline: verification, timing, dumps, and the evidence when a pass fails."""

import re
import shlex
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from torch_mlir import ir

from dovetail.dialects.torch_facts.read_once import types_read_once
from dovetail.errors import DovetailError, PassError
from dovetail.passes.base import Pass
from dovetail.passes.pipeline import Pipeline
from dovetail.passes.running.mlir import MlirPass


def printed(operation: ir.Operation) -> str:
    """The text of `operation` with source lines, as input for `dovetail-opt`."""
    return f"{operation.get_asm(enable_debug_info=True)}\n"


@dataclass(frozen=True)
class Evidence:
    """A module before passes, as an operation of its own or the file that it was dumped to, and the passes since."""

    module: ir.Operation | Path
    passes: tuple[str, ...] = ()

    def command(self, failed: object) -> str:
        """The shell command on which pass `failed` fails again; what was not dumped is written to a temporary file."""
        pipeline = shlex.quote(",".join([*self.passes, str(failed)]))
        try:
            path = self.module if isinstance(self.module, Path) else _written(self.module)
        except OSError as error:
            return f"dovetail-opt - --pass-pipeline={pipeline}  # the module could not be written: {error.strerror}"
        return f"dovetail-opt {shlex.quote(str(path))} --pass-pipeline={pipeline}"


def _written(operation: ir.Operation) -> Path:
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="dovetail-", suffix=".mlir", delete=False) as file:
        file.write(printed(operation))
    return Path(file.name)


_OTHER = re.compile(r"[^\w.()-]")
"""What no file's name needs: a pipeline's text may hold a folder's."""

Hook = Callable[[object, ir.Module], None]


@dataclass
class Runner:
    """Runs passes in order on one module.

    `dump` is a folder that gets the module's text before the first pass and after each, numbered; `before` and `after`
    are called with each pass and the module. Without `verify_each` the module is verified after the last pass only;
    without `leaves_evidence` a failure's message has no command that reproduces it. `seconds` adds up by pass name, and
    `ran` lists the passes as they stand in a pipeline.
    """

    dump: Path | None = None
    before: Hook | None = None
    after: Hook | None = None
    verify_each: bool = True
    leaves_evidence: bool = True
    seconds: dict[str, float] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    stage: int = 0
    _last: "Evidence | None" = None

    @types_read_once()
    def run(self, pipeline: Pipeline, module: ir.Module, name: str | None = "input") -> None:
        """Runs `pipeline`; a dump of the module as it comes in is called `name`, None if it goes on from the last run.

        Raises:
            PassError: if a pass fails or leaves invalid IR; the message holds the pass, the diagnostics and the command
                that reproduces it, on the last dump, or else on a temporary file with the module as it came in.
        """
        evidence = self._last if name is None else self._evidence(name, module, None)
        for each in pipeline:
            if self.before is not None:
                self.before(each, module)
            started = time.perf_counter()
            try:
                self._run(each, module)
            except Exception as error:
                command = f"\nreproduce with: {evidence.command(each)}" if evidence is not None else ""
                raise PassError(f"pass '{each}' failed: {_text(error)}{command}") from error
            self.ran.append(str(each))
            self.seconds[each.name] = self.seconds.get(each.name, 0.0) + time.perf_counter() - started
            if self.after is not None:
                self.after(each, module)
            evidence = self._evidence(each.name, module, evidence)
        self._last = evidence
        if not self.verify_each:
            try:
                module.operation.verify()
            except ir.MLIRError as error:
                text = f"one of the passes left invalid IR, --verify-each=true names it: {_text(error)}"
                raise PassError(text) from error

    def _run(self, each: Pass | MlirPass, module: ir.Module) -> None:
        with module.context, ir.Location.unknown():
            if isinstance(each, Pass):
                each.check_level(module)
            is_changed = each.run(module) is not False
            if self.verify_each and is_changed:
                module.operation.verify()

    def _evidence(self, name: str, module: ir.Module, last: Evidence | None) -> Evidence | None:
        """Dumps the module where asked, and says how to get to it again: the copy of what came in costs one clone."""
        if self.dump is not None:
            path = self.dump / f"{self.stage:02d}_{_OTHER.sub('_', name)}.mlir"
            path.write_text(printed(module.operation), encoding="utf-8")
            self.stage += 1
            return Evidence(path)
        if last is not None:
            return Evidence(last.module, (*last.passes, self.ran[-1]))
        return Evidence(module.operation.clone()) if self.leaves_evidence else None


def _text(error: Exception) -> str:
    """Errors meant for the user speak for themselves; of any other, its type is half of the message."""
    text = str(error).rstrip()
    return text if isinstance(error, DovetailError | ir.MLIRError) else f"{type(error).__name__}: {text}"
