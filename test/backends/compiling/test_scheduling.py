"""Our choice of IREE's passes against its own."""

import re

import pytest

from dovetail.backends.base_target import Target
from dovetail.backends.compiling.compiler_runs import CompilerRuns
from dovetail.backends.compiling.launch_plans import LaunchPlan, read_plans, to_commands, to_flow, to_hal
from dovetail.backends.compiling.scheduling import FLAGS_OF_PASSES, FLAGS_TO_HAL, pipelines
from dovetail.backends.cuda.target import CudaTarget
from dovetail.backends.target import CpuTarget
from dovetail.dialects.building.region_texts import merge_region_texts, named_region_text

REGION = """
module {
  func.func @main(%x: !torch.vtensor<[96,64],f32>, %into: !torch.tensor<[96,64],f32>, %total: !torch.tensor<[64],f32>,
                  %listed: !torch.tensor<[5],si64>, %shifted: !torch.tensor<[5],si64>) {
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
    %0 = torch.aten._softmax %x, %int1, %false
      : !torch.vtensor<[96,64],f32>, !torch.int, !torch.bool -> !torch.vtensor<[96,64],f32>
    %1 = torch.aten.sum.dim_IntList %0, %dims, %false, %none
      : !torch.vtensor<[96,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[64],f32>
    %2 = torch.aten._softmax %1, %int0, %false
      : !torch.vtensor<[64],f32>, !torch.int, !torch.bool -> !torch.vtensor<[64],f32>
    %3 = torch.vtensor.literal(dense<[3, 1, 4, 1, 5]> : tensor<5xsi64>) : !torch.vtensor<[5],si64>
    %4 = torch.vtensor.literal(dense<[9, 2, 6, 5, 3]> : tensor<5xsi64>) : !torch.vtensor<[5],si64>
    torch.overwrite.tensor.contents %0 overwrites %into : !torch.vtensor<[96,64],f32>, !torch.tensor<[96,64],f32>
    torch.overwrite.tensor.contents %2 overwrites %total : !torch.vtensor<[64],f32>, !torch.tensor<[64],f32>
    torch.overwrite.tensor.contents %3 overwrites %listed : !torch.vtensor<[5],si64>, !torch.tensor<[5],si64>
    torch.overwrite.tensor.contents %4 overwrites %shifted : !torch.vtensor<[5],si64>, !torch.tensor<[5],si64>
    return
  }
}
"""
"""Dispatches that wait for one another, a transient, a copy, and constants that lie in one buffer."""


@pytest.mark.parametrize("target", [CpuTarget(), CudaTarget("sm_90", why_plain="a test")], ids=lambda each: each.name)
def test_plans_are_those_of_the_whole_pipeline(target: Target):
    """Would catch a pass that is missing: a plan with more copies, or none; and other code, by an option not told."""
    runs = CompilerRuns()
    source = target.prepared(named_region_text(REGION, "entry").strip())
    ours, _ = to_hal(to_commands(to_flow(source, target, 120, runs), target, 120, runs), target, 120, runs)
    whole = runs.run((*target.compile_flags(), *FLAGS_TO_HAL, "--compile-to=hal"), source, timeout=120)
    plan, expected = (read_plans(run.output, ["entry"], timeout=120)["entry"] for run in (ours, whole))
    assert isinstance(plan, LaunchPlan), plan
    assert plan == expected


def test_threads_do_not_decide_code():
    """Would catch code, or its order, that depends on how the threads of IREE's compiler take turns."""
    target = CpuTarget()
    texts = [target.prepared(named_region_text(REGION, name)) for name in ("first", "second")]
    command = (*target.compile_flags(), *FLAGS_TO_HAL, "--compile-to=hal")
    source = merge_region_texts(texts)
    alone = CompilerRuns(is_threaded=False).run(command, source, timeout=120)
    assert alone.failure is None, alone.diagnostics
    for _ in range(3):
        assert CompilerRuns().run(command, source, timeout=120).output == alone.output


UNSOUND = "util.func public @main(%a: i32) -> i64 { util.return %a : i32 }"


def test_text_that_is_handed_on_is_verified():
    """Would catch what an edit or a pass made unsound, compiled nevertheless: no pass's output is verified."""
    ((phase, pipeline),) = pipelines("llvm-cpu", edited=())
    run = CompilerRuns().run_passes((*FLAGS_OF_PASSES, f"--pass-pipeline={pipeline}"), UNSOUND, timeout=120)
    assert phase == "hal"
    assert run.failure is not None
    assert "doesn't match function result type" in run.failure


@pytest.mark.parametrize("target", [CpuTarget(), CudaTarget("sm_90")], ids=lambda each: each.name)
def test_what_becomes_code_is_verified(target: Target):
    """Would catch code made of what only LLVM can tell to be unsound: its verifier is the last, behind all passes."""
    runs, flags = CompilerRuns(), (*target.code_flags(), *FLAGS_TO_HAL, *FLAGS_OF_PASSES)
    flow = to_flow(target.prepared(named_region_text(REGION, "entry").strip()), target, 120, runs)
    run = to_commands(flow, target, 120, runs)
    *_, (phase, first), (_, rest) = pipelines(target.name, edited=("executable-targets",))
    assert phase == "executable-targets"
    run = runs.run_passes((*flags, f"--pass-pipeline={first}"), run.text, timeout=120)
    function = re.search(r"llvm\.func @entry.*\)( -> i32)? (attributes )?\{", run.text)
    assert function is not None
    unsound = function[0].removesuffix("{") + ("{" if function[2] else "attributes {") + 'passthrough = ["optnone"]'
    unsound += ", " if function[2] else "} {"
    run = runs.run_passes((*flags, f"--pass-pipeline={rest}"), run.text.replace(function[0], unsound), timeout=120)
    assert run.failure is not None
    assert "Attribute 'optnone' requires 'noinline'!" in run.diagnostics
