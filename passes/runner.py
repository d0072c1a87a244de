"""Runs a pipeline: verification, timing, dumps, and the evidence when a pass fails."""

import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from torch_mlir import ir

from dovetail.errors import DovetailError, PassError
from dovetail.passes.base import Pass
from dovetail.passes.pipeline import Pipeline


@dataclass
class Runner:
    """Runs passes in order on one module.

    `dump` is a folder that gets the module's text before the first pass and after each, numbered; `after` is called
    with the pass and the module once each has run; `seconds` adds up by pass name, and `ran` lists the passes as they
    stand in a pipeline.
    """

    dump: Path | None = None
    after: Callable[[object, ir.Module], None] | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    stage: int = 0

    def run(self, pipeline: Pipeline, module: ir.Module) -> None:
        """Runs `pipeline`.

        Raises:
            PassError: if a pass fails or leaves invalid IR; the message holds the pass, the diagnostics and, where
                there is a dump, the command that reproduces it.
        """
        last = self._write("input", module)
        for each in pipeline:
            started = time.perf_counter()
            try:
                with module.context, ir.Location.unknown():
                    if isinstance(each, Pass):
                        each.check_level(module)
                    each.run(module)
                    module.operation.verify()
            except Exception as error:
                raise PassError(_evidence(each, error, last)) from error
            self.ran.append(str(each))
            self.seconds[each.name] = self.seconds.get(each.name, 0.0) + time.perf_counter() - started
            if self.after is not None:
                self.after(each, module)
            last = self._write(each.name, module) or last

    def _write(self, name: str, module: ir.Module) -> Path | None:
        if self.dump is None:
            return None
        path = self.dump / f"{self.stage:02d}_{name}.mlir"
        path.write_text(f"{module.operation.get_asm(enable_debug_info=True)}\n", encoding="utf-8")
        self.stage += 1
        return path


def _evidence(failed: object, error: Exception, last: Path | None) -> str:
    message = f"pass '{failed}' failed: {_text(error)}"
    if last is None:
        return message
    return f"{message}\nreproduce with: dovetail-opt {last} --pass-pipeline={shlex.quote(str(failed))}"


def _text(error: Exception) -> str:
    """Errors meant for the user speak for themselves; of any other, its type is half of the message."""
    text = str(error).rstrip()
    return text if isinstance(error, DovetailError | ir.MLIRError) else f"{type(error).__name__}: {text}"
