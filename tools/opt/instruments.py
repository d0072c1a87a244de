"""What `dovetail-opt` watches while passes run: the module before and after them, its results, the time."""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch_mlir import ir

from dovetail.errors import OptionError
from dovetail.passes.pipeline import Pipeline
from dovetail.passes.running.runner import Runner
from dovetail.tools.opt.run_check import RunCheck


@dataclass(frozen=True)
class Instruments:
    """`before` and `after` are the names of the passes around which the module is printed; `seconds` are by stage."""

    options: argparse.Namespace
    before: frozenset[str]
    after: frozenset[str]
    seconds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, options: argparse.Namespace, pipeline: Pipeline) -> "Instruments":
        """What the command line asks for.

        Raises:
            OptionError: if the module is to be printed around a pass that the pipeline does not have.
        """
        names = list(dict.fromkeys(each.name for each in pipeline))
        for when in ("before", "after"):
            for name in getattr(options, f"mlir_print_ir_{when}"):
                if name not in names:
                    has = ", ".join(f"'{each}'" for each in names) or "no pass"
                    raise OptionError(f"--mlir-print-ir-{when}={name}: the pipeline has {has}")
        before = names if options.mlir_print_ir_before_all else options.mlir_print_ir_before
        after = names if options.mlir_print_ir_after_all else options.mlir_print_ir_after
        return cls(options, frozenset(before), frozenset(after))

    def run(self, pipeline: Pipeline, module: ir.Module) -> None:
        """Runs `pipeline` on `module`; raises PassError as `Runner.run` and `RunCheck` do."""
        check = RunCheck(module, self.options.seed) if self.options.run_check else None

        def print_before(each, module: ir.Module) -> None:
            if each.name in self.before:
                _print(f"Before {each.name}", module)

        def watch_after(each, module: ir.Module) -> None:
            if each.name in self.after:
                _print(f"After {each.name}", module)
            if check is not None:
                check.compare(each, module)

        runner = Runner(
            before=print_before,
            after=watch_after,
            verify_each=self.options.verify_each == "true",
            # What is expected to fail needs no evidence.
            leaves_evidence=not self.options.verify_diagnostics,
            seconds=self.seconds,
        )
        runner.run(pipeline, module)
        if check is not None:
            print(check.report(), file=sys.stderr)

    def timed(self, stage: str, work: Callable, *arguments: Any) -> Any:
        """Calls `work` and adds the time to that of `stage`."""
        started = time.perf_counter()
        result = work(*arguments)
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - started
        return result

    def report(self) -> None:
        """Prints what `--mlir-timing` asks for."""
        if not self.options.mlir_timing:
            return
        from rich.console import Console
        from rich.table import Column, Table

        total = sum(self.seconds.values())
        table = Table(
            Column("seconds", justify="right"), Column("%", justify="right"), "pass", title="execution time, wall clock"
        )
        for stage, seconds in [*self.seconds.items(), ("total", total)]:
            table.add_row(f"{seconds:.4f}", f"{100 * seconds / total:.1f}", stage)
        Console(stderr=True, width=100).print(table)


def _print(when: str, module: ir.Module) -> None:
    print(f"// -----// IR Dump {when} //----- //\n{module}", file=sys.stderr)
