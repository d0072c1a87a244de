"""Runs of IREE's compiler: forks of a process that has loaded it, which give what its executables do."""

import subprocess

import psutil
import pytest

from dovetail.backends.compiling import compiler_runs, iree_worker
from dovetail.backends.compiling.compiler_runs import Cause, CompilerRuns, Run
from dovetail.backends.compiling.launch_plans import to_commands, to_flow
from dovetail.backends.compiling.scheduling import FLAGS_TO_HAL, pipelines
from dovetail.backends.target import CpuTarget

REGION = """
func.func @main(%x: !torch.vtensor<[3,4],f32>, %out: !torch.tensor<[3,4],f32>) {
  %0 = torch.aten.neg %x : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  torch.overwrite.tensor.contents %0 overwrites %out : !torch.vtensor<[3,4],f32>, !torch.tensor<[3,4],f32>
  return
}
"""


def executed(name: str, flags: list[str], text: str) -> Run:
    """What IREE's executable makes of `text`, as a process of its own."""
    path = compiler_runs.compiler_executable().with_name(name)
    made = subprocess.run([str(path), "-", *flags], input=text.encode(), capture_output=True, check=False)
    return Run(made.stdout, made.stderr.decode(), None if made.returncode == 0 else "failed")


@pytest.mark.parametrize("text", [REGION, "no module"])
def test_a_fork_compiles_as_the_executable(text: str):
    """Would catch flags or text that are lost, output that is cut where a buffer ends, and a wrong status."""
    flags = CpuTarget().compile_flags()
    run, expected = CompilerRuns().run(flags, text, timeout=60), executed("iree-compile", [*flags], text)
    assert (run.output, run.diagnostics) == (expected.output, expected.diagnostics)
    assert (run.failure is None) == (expected.failure is None)


def test_a_fork_runs_passes_as_the_executable():
    """Would catch passes that one process can't run after the bindings were imported."""
    flow = to_flow(REGION, CpuTarget(), 60, CompilerRuns())
    text = to_commands(flow, CpuTarget(), 60, CompilerRuns()).text
    ((_, pipeline),) = pipelines("llvm-cpu", ())
    flags = [*CpuTarget().code_flags(), *FLAGS_TO_HAL, f"--pass-pipeline={pipeline}"]
    run, expected = CompilerRuns().run_passes(flags, text, timeout=60), executed("iree-opt", flags, text)
    assert expected.failure is None
    assert (run.output, run.diagnostics) == (expected.output, expected.diagnostics)


def test_a_fork_ends_when_its_time_is_over():
    """Would catch a compiler that goes on since nothing can end it but the process that it is a fork of."""
    run = CompilerRuns().run(CpuTarget().compile_flags(), REGION, timeout=0.01)
    assert (run.cause, run.failure) == (Cause.TIME_OUT, "time-out after 0.01 s")
    source = iree_worker.worker._source
    assert source is not None
    workers = {worker.number for worker in iree_worker.worker._idle}
    assert [child.pid for child in psutil.Process(source._process.pid).children() if child.pid not in workers] == []
