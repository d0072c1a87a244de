"""Reductions that IREE deals to more subgroups than lanes, by tiles of its own."""

import pytest

from dovetail.backends.compiling import iree
from dovetail.backends.compiling.iree import compile_regions
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import CompileFailure, Outcome
from dovetail.backends.target import target_for_device

SUM_OF_DIFFERENCES = """module {
  func.func @main(%x: !torch.vtensor<[24,20],f32>, %y: !torch.vtensor<[24,1],f32>, %o: !torch.tensor<[],f32>) {
    %one = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %all = torch.prim.ListConstruct : () -> !torch.list<int>
    %z = torch.aten.sub.Tensor %x, %y, %one : !torch.vtensor<[24,20],f32>, !torch.vtensor<[24,1],f32>, !torch.int
        -> !torch.vtensor<[24,20],f32>
    %s = torch.aten.sum.dim_IntList %z, %all, %false, %none
        : !torch.vtensor<[24,20],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[],f32>
    torch.overwrite.tensor.contents %s overwrites %o : !torch.vtensor<[],f32>, !torch.tensor<[],f32>
    return
  }
}
"""


def compiled(text: str) -> Outcome:
    return compile_regions({"a": text}, target_for_device("cuda:sm_90"), timeout=60, plans=True)["a"]


def tiling(text: str) -> str:
    """Of the region's one launch."""
    plan = compiled(text)
    assert isinstance(plan, LaunchPlan), plan
    [launch] = [step for step in plan.steps["steps"] if step["op"] == "dispatch"]
    return launch["tiling"]


def test_a_reduction_that_would_lose_parts_is_refused(monkeypatch: pytest.MonkeyPatch):
    """Would catch IREE's own tiles of 4 lanes for 5 subgroups: the sum was a fifth of what it should be, silently."""
    monkeypatch.setattr(iree, "_failures", {})
    found = compiled(SUM_OF_DIFFERENCES)
    assert isinstance(found, CompileFailure)
    assert found.reason.endswith("a reduction would lose parts: 4 lanes read what 5 subgroups reduced")
    assert tiling(SUM_OF_DIFFERENCES.replace("20]", "4]")) == "IREE's tiles: columns of these sizes have no form"


def test_tiles_that_name_no_lanes_are_no_reason_to_refuse():
    """Would catch tiles of another pipeline, of one thread, taken for a failure: the region would be ATen's."""
    row = SUM_OF_DIFFERENCES.replace("24,20]", "35]").replace("24,1]", "1]").replace("f32", "f64")
    assert tiling(row) == "IREE's tiles: rows of these sizes have no form"
