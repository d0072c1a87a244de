"""Runs every module before and after each of its passes, on random inputs, while a program is compiled."""

import torch
from torch_mlir import ir

from dovetail.errors import PassError
from dovetail.passes.pipeline import Pipeline
from dovetail.passes.runner import Runner
from dovetail.tools.opt.run_check import RunCheck


class CheckedRunner(Runner):
    """A runner whose passes must not change what a module does; that raises PassError, naming the pass.

    A module that random inputs can't run (an index out of range) is not checked.
    """

    def run(self, pipeline: Pipeline, module: ir.Module) -> None:
        with torch.random.fork_rng(devices=[]):
            try:
                self.after = RunCheck(module).compare
            except PassError:
                self.after = None
            super().run(pipeline, module)
