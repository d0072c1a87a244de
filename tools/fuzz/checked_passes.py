"""Runs every module before and after each of its passes, on random inputs, while a program is compiled."""

from collections.abc import Callable

import torch
from torch_mlir import ir

from dovetail.errors import PassError
from dovetail.passes.pipeline import Pipeline
from dovetail.passes.running.runner import Runner
from dovetail.tools.opt.run_check import RunCheck


def checked_runner(count: Callable[[bool], None]) -> type[Runner]:
    """A runner whose passes must not change what a module does; raises PassError that names the pass.

    A module that random inputs can't run (an index out of range) is not checked; `count` is told of each whether it is.
    """

    class CheckedRunner(Runner):
        def run(self, pipeline: Pipeline, module: ir.Module, name: str | None = "input") -> None:
            if name is None:  # what the module does was noted when the last run began
                super().run(pipeline, module, name)
                return
            with torch.random.fork_rng(devices=[]):
                try:
                    self.after = RunCheck(module, runs=1).compare
                except PassError:
                    self.after = None
                count(self.after is not None)
                super().run(pipeline, module, name)

    return CheckedRunner
